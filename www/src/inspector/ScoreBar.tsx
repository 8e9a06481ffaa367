import type { Hit } from 'memstrata';
import { showScore, t } from '../i18n/language';

/** One hit's score as a stacked bar, drawn to the scale of the best hit. The numbers are written below it. */
export function ScoreBar({ hit, best, names }: { hit: Hit; best: number; names: string[] }) {
  const positive = hit.parts.filter((part) => part.value > 0);
  let x = 0;
  return (
    <div class="score">
      <svg class="score-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="score-ground" width="100" height="8" />
        {positive.map((part) => {
          const width = best > 0 ? (part.value / best) * 100 : 0;
          const start = x;
          x += width;
          return <rect key={part.name} class={partClass(part.name, names)} x={start} width={Math.max(width - 0.4, 0.2)} height="8" />;
        })}
      </svg>
      <ul class="score-parts" aria-label={t.value.scoreParts}>
        {hit.parts
          .filter((part) => part.value !== 0)
          .map((part) => (
            <li key={part.name}>
              <span class={`key ${partClass(part.name, names)}`} aria-hidden="true" />
              {part.name} {showScore(part.value)}
            </li>
          ))}
      </ul>
    </div>
  );
}

/** The same part has the same shade in every bar of the list. */
function partClass(name: string, names: string[]): string {
  return `part-${names.indexOf(name) % 8}`;
}
