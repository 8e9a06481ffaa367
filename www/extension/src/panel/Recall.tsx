import type { Hit, RetrieveResult } from 'memstrata';
import { sums } from '../../../src/inspector/parts';
import { joinQuotes } from '../../../src/chat/quotes';
import { t } from '../words';
import { Origin } from './Origin';

/** What an answer rests on, and why each passage came. */
export function Recall({ recall, open }: { recall: RetrieveResult; open: boolean }) {
  const facts = recall.facts.filter(({ packed }) => packed);
  const count = recall.hits.filter(({ packed }) => packed).length + facts.length;
  if (count === 0) return <p class="quiet">{t('nothingRecalled')}</p>;
  return (
    <details class="recall" open={open} data-testid="recall">
      <summary>{t('recalled', String(count))}</summary>
      <ol class="plain">
        {facts.map((fact) => (
          <li key={fact.id}>
            <p dir="auto">
              <b>{fact.attribute}</b> {fact.value}
            </p>
            {fact.evidence[0] && <blockquote dir="auto">{fact.evidence[0].quote}</blockquote>}
          </li>
        ))}
        {recall.hits.filter(({ packed }) => packed).map((hit) => (
          <li key={hit.id} data-testid="recalled">
            <Origin speaker={hit.speaker} time={hit.time} metadata={hit.metadata} />
            <blockquote dir="auto">{joinQuotes(hit.text, hit.quotes)}</blockquote>
            <p class="quiet">{t('why', reasons(hit))}</p>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** The terms of the score by what they look at, those that count for it. */
function reasons(hit: Hit): string {
  const of = (...families: string[]): number => sums(hit).filter(({ family }) => families.includes(family)).reduce((sum, { value }) => sum + value, 0);
  const told = [['partWords', of('words')], ['partMeaning', of('meaning', 'likeness')], ['partOther', of('form')]] as const;
  return [...told.filter(([, value]) => Math.abs(value) >= 0.005).map(([word, value]) => t(word, value.toFixed(2))), t('score', hit.score.toFixed(2))].join(', ');
}
