import { useSignal } from '@preact/signals';
import { isIncognito } from '../settings';
import { t } from '../words';
import { Chat } from './Chat';
import { Memories } from './Memories';
import { notice } from './notice';
import { Options } from './Options';

const places = ['chat', 'memories', 'settings'] as const;
const contents = { chat: Chat, memories: Memories, settings: Options };

export function App() {
  const place = useSignal<(typeof places)[number]>('chat');
  const move = (by: number): void => {
    place.value = places[(places.indexOf(place.value) + by + places.length) % places.length]!;
    document.getElementById(`tab-${place.value}`)?.focus();
  };
  const Content = contents[place.value];
  return (
    <>
      <header>
        <h1 class="visually-hidden">{t('name')}</h1>
        <div
          class="tabs"
          role="tablist"
          aria-label={t('places')}
          onKeyDown={({ key }) => {
            if (key === 'ArrowRight') move(1);
            if (key === 'ArrowLeft') move(-1);
          }}
        >
          {places.map((each) => (
            <button key={each} type="button" role="tab" id={`tab-${each}`} data-testid={`tab-${each}`} aria-selected={each === place.value} aria-controls="content" tabIndex={each === place.value ? 0 : -1} onClick={() => { place.value = each; }}>
              {t(each)}
            </button>
          ))}
        </div>
        {isIncognito() && <p class="quiet pad-line" data-testid="incognito">{t('incognito')}</p>}
        <p role="status" class="notice" data-testid="notice" data-word={notice.value?.word}>{notice.value && t(notice.value.word, notice.value.about)}</p>
      </header>
      <main>
        <div id="content" class="content" role="tabpanel" aria-labelledby={`tab-${place.value}`}>
          <Content />
        </div>
      </main>
    </>
  );
}
