import type { Hit } from 'memstrata';
import { showScore, t } from '../i18n/language';
import { isKnown, sums } from './parts';

/** One hit's score as a stacked bar, drawn to the scale of the best hit, with its numbers in words below. */
export function ScoreBar({ hit, best }: { hit: Hit; best: number }) {
  const words = t.value;
  const added = sums(hit);
  let x = 0;
  return (
    <div class="score">
      <svg class="score-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="score-ground" width="100" height="8" />
        {added
          .filter(({ value }) => value > 0)
          .map(({ family, value }) => {
            const width = best > 0 ? (value / best) * 100 : 0;
            const start = x;
            x += width;
            return <rect key={family} class={`part-${family}`} x={start} width={Math.max(width - 0.4, 0.2)} height="8" />;
          })}
      </svg>
      <details class="score-parts">
        <summary>
          <span class="visually-hidden">{words.scoreParts}: </span>
          {added.map(({ family, value }) => (
            <span key={family} class="part-sum">
              <span class={`key part-${family}`} aria-hidden="true" />
              {words.partFamilies[family]} {showScore(value)}{' '}
            </span>
          ))}
        </summary>
        <dl class="figures">
          {hit.parts
            .filter((part) => part.value !== 0)
            .map((part) => (
              <div key={part.name}>
                <dt>
                  {isKnown(part.name) ? words.partNames[part.name] : ''} <code>{part.name}</code>
                </dt>
                <dd>{showScore(part.value)}</dd>
              </div>
            ))}
        </dl>
      </details>
    </div>
  );
}
