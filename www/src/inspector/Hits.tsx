import type { Hit, RetrieveResult } from 'memstrata';
import { speakerName } from '../chat/Passages';
import { showCount, showScore, showTime, t } from '../i18n/language';
import { forgotten } from '../memory/view';
import { Evidence } from './Evidence';
import { ScoreBar } from './ScoreBar';

/** Hits in order of score, then the line where the budget cuts, then what fell below it. */
export function Hits({ recall }: { recall: RetrieveResult }) {
  const words = t.value;
  const gone = forgotten.value;
  const hits = recall.hits.filter((hit) => !gone.has(hit.pageId));
  const best = Math.max(0, ...hits.map((hit) => hit.score));
  const above = hits.filter((hit) => hit.packed);
  const below = hits.filter((hit) => !hit.packed);
  // A turn's id is its page's id and its side.
  const next = recall.belowCut.filter((entry) => ![...gone].some((pageId) => entry.turnId.startsWith(pageId)));
  return (
    <section>
      <h3>{words.hits}</h3>
      {hits.length === 0 && <p class="quiet">{words.hitsNone}</p>}
      <ol class="hits">
        {above.map((hit) => (
          <HitItem key={hit.id} hit={hit} best={best} />
        ))}
      </ol>
      {(hits.length > 0 || next.length > 0) && <p class="cut-line" data-testid="cut-line">{words.cutLine(showCount(recall.contextTokens))}</p>}
      {(below.length > 0 || next.length > 0) && <h4>{words.belowCut}</h4>}
      <ol class="hits below" start={above.length + 1}>
        {below.map((hit) => (
          <HitItem key={hit.id} hit={hit} best={best} />
        ))}
        {next.map((entry) => (
          <li key={`${entry.turnId} ${entry.quote}`}>
            <p class="quiet">
              {words.scoreOf(showScore(entry.score))} · {words.tokensOf(showCount(entry.tokens))} · {words.leftOut}
            </p>
            <p class="evidence" dir="auto">{entry.quote}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

function HitItem({ hit, best }: { hit: Hit; best: number }) {
  const words = t.value;
  const tier = { short: words.shortTerm, mid: words.midTerm, archive: words.archive }[hit.tier];
  return (
    <li data-testid="hit" data-page-id={hit.pageId}>
      <p class="hit-head">
        <b>{speakerName(hit.speaker)}</b> <span class="quiet">{showTime(hit.time)} · {tier}</span>
        <span class="hit-score">
          {showScore(hit.score)} <span class="quiet">· {words.tokensOf(showCount(hit.tokens))}</span>
        </span>
      </p>
      <Evidence hit={hit} />
      <ScoreBar hit={hit} best={best} />
    </li>
  );
}
