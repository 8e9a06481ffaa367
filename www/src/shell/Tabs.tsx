import { useRef } from 'preact/hooks';
import { t } from '../i18n/language';
import { Icon } from './Icon';
import { chosen, go, tabs, type Place } from './places';

/** The tabs pattern: one stop for the Tab key, arrows choose. Below on a narrow screen, above the places on a wide one. */
export function Tabs() {
  const list = useRef<HTMLDivElement>(null);
  const words = t.value;

  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.value.indexOf(chosen.value);
    const count = tabs.value.length;
    const to: Record<string, number | undefined> = { ArrowRight: (at + 1) % count, ArrowLeft: (at + count - 1) % count, Home: 0, End: count - 1 };
    const next = to[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(tabs.value[next]!);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };

  return (
    <div class="tabs" role="tablist" aria-label={words.placesLabel} ref={list} onKeyDown={onKeyDown}>
      {tabs.value.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          id={`tab-${each}`}
          data-testid={`tab-${each}`}
          aria-selected={chosen.value === each}
          aria-controls={`place-${each}`}
          tabIndex={chosen.value === each ? 0 : -1}
          onClick={() => go(each)}
        >
          <Icon place={each} />
          <span>{words.places[each]}</span>
        </button>
      ))}
    </div>
  );
}

/** What a place's element needs: a tab panel while it has a tab, a plain region while it always stands there. */
export function panel(which: Place, isShown: boolean) {
  const tabbed = tabs.value.includes(which);
  return {
    id: `place-${which}`,
    role: tabbed ? 'tabpanel' : 'region',
    ...(tabbed ? { 'aria-labelledby': `tab-${which}` } : { 'aria-label': t.value.places[which] }),
    hidden: !isShown,
  } as const;
}
