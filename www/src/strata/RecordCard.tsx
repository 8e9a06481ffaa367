import { showShare, showTime, t } from '../i18n/language';
import { facts, moved, profile, traits } from '../memory/persona';
import { factWords, isOpen, profileKey, traitKey } from '../persona/record';
import { Quotes } from '../persona/Quotes';
import { sinceWords } from '../persona/since';
import { traitName } from '../persona/trait-name';
import { openRecord } from './records';

/** A record of long-term memory in the picture's card. */
export function RecordCard({ id }: { id: string }) {
  const words = t.value;
  const fact = facts.value.find((each) => each.id === id);
  const trait = traits.value.find((each) => traitKey(each.dimension) === id);
  const text = [profile.value?.user, profile.value?.assistant].find((each) => each && profileKey(each.of) === id);
  const open = fact ? isOpen(fact) : true;
  return (
    <>
      {fact && (
        <>
          <p class="when" dir="auto">
            {sinceWords(fact)} · {words.sources[fact.source]} · {words.confidence(showShare(fact.confidence))}
          </p>
          <p class="card-theme" dir="auto">{open ? factWords(fact) : <s>{factWords(fact)}</s>}</p>
          {!open && fact.reason && <p>{words.closeReasons[fact.reason]}</p>}
          <Quotes evidence={fact.evidence} open />
        </>
      )}
      {trait && (
        <>
          <p class="when">{words.categories[trait.category]} · {words.confidence(showShare(trait.confidence))}</p>
          <p class="card-theme">{traitName(trait)}: {words.levels[trait.level]}</p>
          <p lang="en">{trait.levelRule}</p>
          <Quotes evidence={trait.evidence} open />
        </>
      )}
      {text && (
        <>
          <p class="when">{words.profileField[text.of]} · {showTime(text.recordedAt)}</p>
          <p class="prose" dir="auto">{text.text}</p>
        </>
      )}
      {moved.value.has(id) && <p class="mark used">{words.movedMark}</p>}
      <button type="button" class="link" data-testid="open-record" onClick={() => openRecord(id)}>{words.openRecord}</button>
    </>
  );
}
