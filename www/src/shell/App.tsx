import { Browse } from '../browse/Browse';
import { Chat } from '../chat/Chat';
import { Data } from '../data/Data';
import { t } from '../i18n/language';
import { Inspector } from '../inspector/Inspector';
import { Models } from '../models/Models';
import { Persona } from '../persona/Persona';
import { Strata } from '../strata/Strata';
import { Work } from '../work/Work';
import { Banner } from './Banner';
import { Header } from './Header';
import { shown, sidePlaces, type Place } from './places';
import { panel, Tabs } from './Tabs';
import { Threads } from './Threads';

const contents: Record<(typeof sidePlaces)[number], () => preact.JSX.Element> = { inspector: Inspector, memory: Browse, persona: Persona, data: Data, models: Models, work: Work };

export function App() {
  return (
    <>
      <Header />
      <Banner />
      <main>
        <div class="place chat-place" {...panel('chat', shown('chat'))}>
          <Chat />
        </div>
        <div class="place strata-place" {...panel('strata', shown('strata'))}>
          {shown('strata') && <Strata />}
        </div>
        <Tabs />
        {sidePlaces.map((each) => (
          <Side key={each} which={each} />
        ))}
      </main>
      <Threads />
    </>
  );
}

function Side({ which }: { which: Exclude<Place, 'chat' | 'strata'> }) {
  const Content = contents[which];
  const isShown = shown(which);
  return (
    // It scrolls, so the keyboard must be able to stand in it.
    <div class="place side-place" tabIndex={0} {...panel(which, isShown)}>
      <h2 class="visually-hidden">{t.value.places[which]}</h2>
      {isShown && <Content />}
    </div>
  );
}
