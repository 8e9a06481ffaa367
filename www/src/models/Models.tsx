import { ChatForm } from './ChatForm';
import { EmbedderChoice } from './EmbedderChoice';
import { Manner } from './Manner';

export function Models() {
  return (
    <div class="stack">
      <EmbedderChoice />
      <ChatForm />
      <Manner />
    </div>
  );
}
