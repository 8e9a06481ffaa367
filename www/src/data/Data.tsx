import { Clear } from './Clear';
import { Export } from './Export';
import { Import } from './Import';
import { Storage } from './Storage';

export function Data() {
  return (
    <div class="stack">
      <Import />
      <Export />
      <Storage />
      <Clear />
    </div>
  );
}
