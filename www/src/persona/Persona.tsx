import { useRef } from 'preact/hooks';
import { showCount, t } from '../i18n/language';
import { facts, profile, traits } from '../memory/persona';
import { stats } from '../memory/view';
import { Changes } from './Changes';
import { Facts } from './Facts';
import { Notice } from './Notice';
import { Profile } from './Profile';
import { isOpen } from './record';
import { section, sections, type Section } from './section';
import { Traits } from './Traits';

const contents: Record<Section, () => preact.JSX.Element> = { facts: Facts, profile: Profile, traits: Traits, changes: Changes };

/** What is known for long: why, since when, and how to correct it. */
export function Persona() {
  const words = t.value;
  const head = useRef<HTMLDivElement>(null);
  const Content = contents[section.value];
  const counts: Record<Section, number | undefined> = { facts: facts.value.filter(isOpen).length, profile: undefined, traits: traits.value.length, changes: stats.value?.changes };
  const empty = facts.value.length === 0 && traits.value.length === 0 && !profile.value?.user && !profile.value?.assistant;
  return (
    <div class="stack persona">
      <div class="segmented sections" role="group" aria-label={words.sectionsLabel} ref={head} tabIndex={-1}>
        {sections.map((each) => (
          <button key={each} type="button" data-testid={`section-${each}`} aria-pressed={section.value === each} onClick={() => (section.value = each)}>
            {words.sections[each]}
            {counts[each] !== undefined && <span class="quiet"> {showCount(counts[each])}</span>}
          </button>
        ))}
      </div>
      {empty && <p class="quiet" data-testid="persona-empty">{words.personaNone}</p>}
      <Content />
      <Notice onLeave={() => head.current?.focus()} />
    </div>
  );
}
