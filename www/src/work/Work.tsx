import { Figures } from './Figures';
import { Queue } from './Queue';

export function Work() {
  return (
    <div class="stack">
      <Queue />
      <Figures />
    </div>
  );
}
