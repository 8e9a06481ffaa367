import { showCount, showDate, t } from '../i18n/language';
import { ALL, importing } from './importing';
import type { Conversation } from './conversation';

const PROBLEMS_SHOWN = 5;

/** What an import would write: counts, dates, and every entry that would be left out or changed. */
export function Preview({ list, chosen }: { list: Conversation[]; chosen: number }) {
  const words = t.value;
  const taken = chosen === ALL ? list : [list[chosen]!];
  const total = (count: (conversation: Conversation) => number): string => showCount(taken.reduce((sum, conversation) => sum + count(conversation), 0));
  const times = taken.flatMap((conversation) => (conversation.from === null || conversation.to === null ? [] : [conversation.from, conversation.to]));
  const problems = taken.flatMap((conversation) => conversation.problems);
  const speakers = [...new Set(taken.flatMap((conversation) => conversation.speakers))];
  const rows: [string, string][] = [
    [words.entries, total((c) => c.entries)],
    [words.pagesToWrite, total((c) => c.pages.length)],
    [words.sessions, total((c) => c.sessions)],
    [words.speakers, speakers.slice(0, 6).join(', ') + (speakers.length > 6 ? ` … ${words.andMore(showCount(speakers.length - 6))}` : '')],
    [words.dateRange, times.length ? words.range(showDate(times.reduce((a, b) => Math.min(a, b))), showDate(times.reduce((a, b) => Math.max(a, b)))) : words.timeUnknown],
  ];
  return (
    <div class="preview" data-testid="import-preview">
      {list.length > 1 && (
        <label>
          {words.whichConversation}
          <select data-testid="import-choice" value={String(chosen)} onChange={(event) => (importing.value = { step: 'preview', list, chosen: Number(event.currentTarget.value) })}>
            {list.map((conversation, index) => (
              <option key={index} value={String(index)}>{words.conversationOption(conversation.name, showCount(conversation.pages.length))}</option>
            ))}
            <option value={String(ALL)}>{words.allConversations(list.length)}</option>
          </select>
        </label>
      )}
      <h4>{words.preview}</h4>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
        <div>
          <dt>{words.problems}</dt>
          <dd>
            {problems.length === 0 ? words.problemsNone : (
              <ul class="plain">
                {problems.slice(0, PROBLEMS_SHOWN).map((problem, index) => (
                  <li key={index}>{words.problemAt(showCount(problem.index + 1), words.problemKinds[problem.kind])}</li>
                ))}
                {problems.length > PROBLEMS_SHOWN && <li class="quiet">{words.andMore(showCount(problems.length - PROBLEMS_SHOWN))}</li>}
              </ul>
            )}
          </dd>
        </div>
      </dl>
    </div>
  );
}
