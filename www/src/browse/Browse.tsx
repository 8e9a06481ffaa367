import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageView, Tier } from 'memstrata';
import { showCount, t } from '../i18n/language';
import { forget } from '../memory/forget';
import { memory } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { pages, refreshSoon } from '../memory/view';
import { TroubleNote } from '../shell/TroubleNote';
import { DeletePage } from './DeletePage';
import { PageTable } from './PageTable';
import { foundPages, searchText, soughtPage, tierFilter } from './selection';

const tiersInOrder: Tier[] = ['short', 'mid', 'archive'];

/** Everything that is remembered, tier by tier: search it, and delete what should not be there. */
export function Browse() {
  const [doomed, setDoomed] = useState<PageView | null>(null);
  const [done, setDone] = useState('');
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const words = t.value;
  const names: Record<Tier, string> = { short: words.shortTerm, mid: words.midTerm, archive: words.archive };
  const found = foundPages.value;

  const remove = async (page: PageView): Promise<void> => {
    setTrouble(null);
    try {
      const result = await forget([page.id]);
      setDone([words.deleted(result.pages.length, result.segmentsRewritten.length, result.segmentsRemoved.length), words.alsoFacts(result.facts.length, result.factsRewritten.length)].filter(Boolean).join(' '));
      // The button that had the focus goes with its row.
      field.current?.focus();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };

  const setNever = async (page: PageView): Promise<void> => {
    setTrouble(null);
    try {
      await (await memory()).neverRecall(page.id, !page.neverRecall);
      refreshSoon();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };

  // Whoever followed a quotation here goes on from the page it leads to.
  const list = useRef<HTMLDivElement>(null);
  const sought = soughtPage.value;
  useEffect(() => {
    if (sought !== null) list.current?.querySelector<HTMLElement>('[data-testid=memory-row]')?.focus();
  }, [sought]);

  return (
    <div class="stack" ref={list}>
      <div class="filters" role="search">
        <label class="grow">
          {words.search}
          <input ref={field} type="search" dir="auto" data-testid="memory-search" placeholder={words.searchHint} value={searchText.value} onInput={(event) => { soughtPage.value = null; searchText.value = event.currentTarget.value; }} />
        </label>
        <label>
          {words.tierFilter}
          <select value={tierFilter.value} onChange={(event) => { soughtPage.value = null; tierFilter.value = event.currentTarget.value as Tier | 'all'; }}>
            <option value="all">{words.allTiers}</option>
            {tiersInOrder.map((tier) => (
              <option key={tier} value={tier}>{names[tier]}</option>
            ))}
          </select>
        </label>
      </div>
      <p role="status" class="quiet">
        {done}{' '}
        {pages.value.size === 0 ? words.memoryNone : found.length === 0 ? words.searchNone : words.found(showCount(found.length))}
      </p>
      {sought !== null && (
        <p>
          {words.onePage}{' '}
          <button
            type="button"
            class="link"
            data-testid="all-pages"
            onClick={() => {
              soughtPage.value = null;
              field.current?.focus();
            }}
          >
            {words.showAllPages}
          </button>
        </p>
      )}
      {trouble && <TroubleNote trouble={trouble} />}
      {tiersInOrder.map((tier) => (
        <PageTable key={tier} name={names[tier]} list={found.filter((page) => page.tier === tier)} onDelete={setDoomed} onNever={(page) => void setNever(page)} />
      ))}
      {doomed && (
        <DeletePage
          page={doomed}
          onAnswer={(yes) => {
            setDoomed(null);
            if (yes) void remove(doomed);
          }}
        />
      )}
    </div>
  );
}
