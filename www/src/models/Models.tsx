import { ChatForm } from './ChatForm';
import { EmbedderChoice } from './EmbedderChoice';

export function Models() {
  return (
    <div class="stack">
      <EmbedderChoice />
      <ChatForm />
    </div>
  );
}
