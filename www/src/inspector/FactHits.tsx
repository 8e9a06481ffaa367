import type { RetrieveResult } from 'memstrata';
import { factsOf } from '../chat/packed';
import { showScore, t } from '../i18n/language';
import { Quotes } from '../persona/Quotes';
import { factWords, isOpen } from '../persona/record';
import { showRecord } from '../persona/section';
import { sinceWords } from '../persona/since';
import { subjectTitle } from '../persona/subject-title';

/** Facts of long-term memory that bear on the question, best first; those that were packed begin the context. */
export function FactHits({ recall }: { recall: RetrieveResult }) {
  const words = t.value;
  const facts = factsOf(recall);
  if (facts.length === 0) return null;
  return (
    <section data-testid="fact-hits">
      <h3>{words.recalledFacts}</h3>
      <ol class="hits">
        {facts.map((fact) => (
          <li key={fact.id} data-testid="fact-hit" data-fact-id={fact.id} data-packed={fact.packed}>
            <p class="hit-head">
              <button type="button" class="link" dir="auto" aria-description={words.openRecord} onClick={() => showRecord('fact', fact.id, isOpen(fact))}>
                {factWords(fact)}
              </button>
              <span class="hit-score">{words.scoreOf(showScore(fact.score))}</span>
            </p>
            <p class="quiet" dir="auto">
              {subjectTitle({ subject: fact.subject, name: fact.subjectName ?? '' })} · {sinceWords(fact)} ·{' '}
              {fact.packed ? <span class="mark used">{words.packedMark}</span> : words.factLeftOut}
            </p>
            <Quotes evidence={fact.evidence} />
          </li>
        ))}
      </ol>
    </section>
  );
}
