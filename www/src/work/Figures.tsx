import { showBytes, showCount, t } from '../i18n/language';
import { stats } from '../memory/view';

/** Calls, tokens, index and store, as the engine counts them. */
export function Figures() {
  const words = t.value;
  const now = stats.value;
  if (!now) return null;
  const vectors = showCount(now.index.vectors) + (now.index.pendingVectors > 0 ? `, ${words.pendingVectors(showCount(now.index.pendingVectors))}` : '');
  return (
    <>
      <section>
        <h3>
          {words.callsTitle} <span class="quiet">{words.sinceOpen}</span>
        </h3>
        <Table
          rows={[
            [words.chatCalls, showCount(now.calls.chat)],
            [words.embedCalls, showCount(now.calls.embed)],
            [words.tokensIn, showCount(now.calls.tokensIn)],
            [words.tokensOut, showCount(now.calls.tokensOut)],
          ]}
        />
      </section>
      <section>
        <h3>{words.indexTitle}</h3>
        <Table
          rows={[
            [words.turns, showCount(now.turns)],
            [words.atoms, showCount(now.index.atoms)],
            [words.indexWords, showCount(now.index.words)],
            [words.indexVectors, vectors],
            [words.walSize, words.walValue(showCount(now.storage.walRecords), showBytes(now.storage.walBytes))],
            [words.chunkSize, words.chunkValue(showCount(now.storage.chunks), showBytes(now.storage.chunkBytes))],
            [words.written, showBytes(now.writtenBytes)],
          ]}
        />
      </section>
    </>
  );
}

function Table({ rows }: { rows: [string, string][] }) {
  return (
    <dl class="figures">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
