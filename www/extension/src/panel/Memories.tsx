import { useSignal } from '@preact/signals';
import type { FactView, PageView } from 'memstrata';
import { useId } from 'preact/hooks';
import { t, type WordKey } from '../words';
import { Delete } from './Delete';
import { correctPage, facts, isOfPage, limit, memory, pages, refresh, showMore, trouble } from './memory';
import { Origin } from './Origin';

export function Memories() {
  const search = useSignal('');
  const said = useSignal<WordKey | ''>('');
  const failed = useSignal('');
  const wanted = (text: string): boolean => text.toLowerCase().includes(search.value.trim().toLowerCase());
  const shownPages = (pages.value ?? []).filter((page) => wanted(`${page.userInput} ${page.agentResponse} ${String(page.metadata.title ?? '')} ${String(page.metadata.url ?? '')}`));
  const shownFacts = facts.value.filter((fact) => wanted(`${fact.attribute} ${fact.value}`));
  const act = async (deed: () => Promise<unknown>, done: WordKey): Promise<void> => {
    said.value = '';
    failed.value = '';
    try {
      await deed();
      said.value = done;
      refresh();
    } catch (error) {
      failed.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <div class="place">
      <input type="search" data-testid="search" aria-label={t('search')} placeholder={t('search')} value={search.value} onInput={(event) => { search.value = event.currentTarget.value; }} />
      <p role="status" class="quiet" data-testid="said">{said.value && t(said.value)} {t('count', String(shownPages.length + shownFacts.length))}</p>
      {(failed.value || trouble.value) && <p class="trouble" role="alert">{t('trouble', failed.value || trouble.value)}</p>}
      {shownFacts.length > 0 && <h2>{t('facts')}</h2>}
      <ul class="plain">
        {shownFacts.map((fact) => (
          <Entry key={fact.id} text={fact.value} onCorrect={(text) => act(() => memory.editFact(fact.id, { value: text }), 'corrected')} onDelete={() => act(() => memory.forget(fact.id), 'deleted')}>
            <Fact fact={fact} />
          </Entry>
        ))}
      </ul>
      <h2>{t('pages')}</h2>
      {shownPages.length === 0 && <p class="quiet">{t(pages.value ? 'none' : 'reloading')}</p>}
      <ul class="plain">
        {shownPages.map((page) => (
          <Entry key={page.id} text={isOfPage(page) ? page.agentResponse : page.userInput} onCorrect={(text) => act(() => correctPage(page, text), 'corrected')} onDelete={() => act(() => memory.forget(page.id), 'deleted')}>
            <Page page={page} />
          </Entry>
        ))}
      </ul>
      {(pages.value?.length ?? 0) >= limit.value && <button type="button" onClick={showMore}>{t('more')}</button>}
    </div>
  );
}

function Fact({ fact }: { fact: FactView }) {
  return (
    <>
      <p dir="auto"><b>{fact.attribute}</b> {fact.value}</p>
      {fact.evidence[0] && <blockquote dir="auto">{fact.evidence[0].quote}</blockquote>}
    </>
  );
}

function Page({ page }: { page: PageView }) {
  return (
    <>
      <Origin speaker={isOfPage(page) ? page.agentName : page.userName} time={page.time} metadata={page.metadata} />
      {page.userInput !== '' && <p class="text" dir="auto">{page.userInput}</p>}
      {page.agentResponse !== '' && <p class={`text${isOfPage(page) ? '' : ' quiet'}`} dir="auto">{page.agentResponse}</p>}
      {page.metadata.corrected === true && <p class="quiet">{t('corrections')}</p>}
    </>
  );
}

/** One memory with what may be done to it. */
function Entry({ text, children, onCorrect, onDelete }: { text: string; children: preact.ComponentChildren; onCorrect: (text: string) => Promise<void>; onDelete: () => Promise<void> }) {
  const step = useSignal<'shown' | 'correcting' | 'deleting'>('shown');
  const id = useId();
  return (
    <li class="entry" data-testid="entry">
      {step.value === 'correcting' ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const corrected = (new FormData(event.currentTarget).get('text') as string).trim();
            step.value = 'shown';
            if (corrected !== '' && corrected !== text) void onCorrect(corrected);
          }}
        >
          <label for={id}>{t('text')}</label>
          <textarea id={id} name="text" rows={4} dir="auto" data-testid="correction" defaultValue={text} ref={(field) => field?.focus()} />
          <div class="row">
            <button type="submit" class="primary" data-testid="save">{t('save')}</button>
            <button type="button" onClick={() => { step.value = 'shown'; }}>{t('cancel')}</button>
          </div>
        </form>
      ) : (
        <>
          {children}
          <div class="row">
            <button type="button" class="link" data-testid="correct" onClick={() => { step.value = 'correcting'; }}>{t('correct')}</button>
            <button type="button" class="link" data-testid="delete" onClick={() => { step.value = 'deleting'; }}>{t('delete')}</button>
          </div>
        </>
      )}
      {step.value === 'deleting' && <Delete text={text} onAnswer={(yes) => { step.value = 'shown'; if (yes) void onDelete(); }} />}
    </li>
  );
}
