import { inspected } from '../chat/log';
import { t } from '../i18n/language';
import { isForgotten } from '../memory/forgotten';
import { ContextText } from './ContextText';
import { FactHits } from './FactHits';
import { Hits } from './Hits';
import { Probe } from './Probe';
import { Understood } from './Understood';

/** Why each passage came: the query as read, the hits with their scores, the cut, the context. */
export function Inspector() {
  const shown = inspected.value;
  // The context was packed before a deletion and is one text: with a page of it gone, none of it may stay on show.
  const stale = shown !== null && (shown.recall.passages.some((passage) => isForgotten(passage.pageId)) || shown.recall.facts.some((fact) => fact.packed && isForgotten(fact.id)));
  return (
    <div class="stack">
      <Probe />
      {shown ? (
        <>
          <p class="asked" dir="auto">{shown.query}</p>
          <Understood recall={shown.recall} />
          <FactHits recall={shown.recall} />
          <Hits recall={shown.recall} />
          <ContextText text={stale ? '' : shown.recall.context} />
        </>
      ) : (
        <p class="quiet">{t.value.inspectorEmpty}</p>
      )}
    </div>
  );
}
