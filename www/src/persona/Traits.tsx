import type { TraitView } from 'memstrata';
import { showShare, t } from '../i18n/language';
import { moved, traits } from '../memory/persona';
import { Quotes } from './Quotes';
import { groupTraits, traitKey } from './record';
import { showHistory } from './section';
import { traitName } from './trait-name';

/** What one is like, as far as pages have shown it, by category. */
export function Traits() {
  const words = t.value;
  const groups = groupTraits(traits.value);
  if (groups.length === 0) return <p class="quiet">{words.traitsNone}</p>;
  return (
    <>
      {groups.map((group) => (
        <section key={group.category} data-testid="trait-group" data-category={group.category}>
          <h3>{words.categories[group.category]}</h3>
          <ul class="records">
            {group.traits.map((trait) => (
              <TraitItem key={trait.dimension} trait={trait} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function TraitItem({ trait }: { trait: TraitView }) {
  const words = t.value;
  const key = traitKey(trait.dimension);
  return (
    <li class={`record${moved.value.has(key) ? ' moved' : ''}`} data-testid="trait" data-dimension={trait.dimension}>
      <p class="record-words">
        <span>{traitName(trait)}</span> <b>{words.levels[trait.level]}</b>
      </p>
      {/* The engine's own words, which are English. */}
      <p lang="en">{trait.levelRule}</p>
      <p class="quiet">
        {words.confidence(showShare(trait.confidence))} · <span lang="en">{trait.definition}</span>
        {moved.value.has(key) && <span class="mark used"> · {words.movedMark}</span>}
      </p>
      <Quotes evidence={trait.evidence} />
      <div class="row acts">
        <button type="button" class="link" data-testid="trait-history" aria-description={traitName(trait)} onClick={() => showHistory(key, traitName(trait))}>{words.historyOf}</button>
      </div>
    </li>
  );
}
