import type { Hit, RetrieveResult, Tier } from 'memstrata';
import { pageOfTurn, passagesOf, type Passage } from '../chat/packed';
import { speakerName } from '../chat/Passages';
import { showCount, showScore, showTime, t } from '../i18n/language';
import { isForgotten } from '../memory/forgotten';
import { pages } from '../memory/view';
import { Evidence } from './Evidence';
import { ScoreBar } from './ScoreBar';

/** Hits in order of score, then the line where the budget cuts, then what fell below it. */
export function Hits({ recall }: { recall: RetrieveResult }) {
  const words = t.value;
  const hits = recall.hits.filter((hit) => !isForgotten(hit.pageId));
  const best = Math.max(0, ...hits.map((hit) => hit.score));
  const above = hits.filter((hit) => hit.packed);
  const below = hits.filter((hit) => !hit.packed);
  // The context takes in more turns than are listed as hits, as far as its budget reaches.
  const more = passagesOf(recall).filter((passage) => !passage.hit);
  const next = recall.belowCut.filter((entry) => !isForgotten(pageOfTurn(entry.turnId)));
  return (
    <section>
      <h3>{words.hits}</h3>
      {hits.length === 0 && <p class="quiet">{words.hitsNone}</p>}
      <ol class="hits">
        {above.map((hit) => (
          <HitItem key={hit.id} hit={hit} best={best} />
        ))}
      </ol>
      {more.length > 0 && (
        <>
          <h4>{words.alsoPacked(showCount(more.length))}</h4>
          <ul class="hits more">
            {more.map((passage) => (
              <PassageItem key={passage.turnId} passage={passage} />
            ))}
          </ul>
        </>
      )}
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

/** A turn that was packed without being among the hits: it has no score parts to show. */
function PassageItem({ passage }: { passage: Passage }) {
  const tier = pages.value.get(passage.pageId)?.tier;
  return (
    <li data-testid="packed" data-page-id={passage.pageId}>
      <p class="hit-head">
        <b>{speakerName(passage.speaker)}</b>
      </p>
      <p class="quiet">
        {showTime(passage.time)}{tier && ` · ${tierName(tier)}`} · <span class="mark used">{t.value.packedMark}</span>
      </p>
      <Evidence text={passage.text} quotes={passage.quotes} />
    </li>
  );
}

function tierName(tier: Tier): string {
  const words = t.value;
  return { short: words.shortTerm, mid: words.midTerm, archive: words.archive }[tier];
}

function HitItem({ hit, best }: { hit: Hit; best: number }) {
  const words = t.value;
  return (
    <li data-testid="hit" data-page-id={hit.pageId}>
      <p class="hit-head">
        <b>{speakerName(hit.speaker)}</b>
        <span class="hit-score">
          {showScore(hit.score)} <span class="quiet">· {words.tokensOf(showCount(hit.tokens))}</span>
        </span>
      </p>
      <p class="quiet">
        {showTime(hit.time)} · {tierName(hit.tier)}
        {hit.packed && <> · <span class="mark used">{words.packedMark}</span></>}
      </p>
      <Evidence text={hit.text} quotes={hit.quotes} />
      <ScoreBar hit={hit} best={best} />
    </li>
  );
}
