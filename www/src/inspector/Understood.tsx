import type { RetrieveResult } from 'memstrata';
import { showScore, t } from '../i18n/language';

/** How the engine read the query. */
export function Understood({ recall }: { recall: RetrieveResult }) {
  const words = t.value;
  const { query } = recall;
  const dates = [...query.years.map(String), ...query.months.map((month) => words.monthNamed(month)), ...query.days.map((day) => words.dayNamed(day))];
  const ranges = query.ranges.map(({ phrase, from, to }) => words.daysAsked(phrase, from, to));
  const rows: [string, string][] = [
    [words.strategy, words.strategies[query.strategy] ?? query.strategy],
    [words.profile, words.profiles[query.profile]],
    [words.words, query.words.join(' · ')],
    [words.names, query.names.join(' · ')],
    [words.dates, [...dates, ...ranges].join(' · ')],
    [words.vectors, query.vectors ? words.vectorsYes : words.vectorsNo],
  ];
  return (
    <section>
      <h3>
        {words.understood} {/* Not measured when the lookup was part of an answer. */}
        {recall.timing ? <span class="quiet">{words.took(showScore(recall.timing.ms))}</span> : null}
      </h3>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value || <span class="quiet">{words.none}</span>}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
