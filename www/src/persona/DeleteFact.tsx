import type { FactView } from 'memstrata';
import { t } from '../i18n/language';
import { forget } from '../memory/forget';
import { Confirm } from '../shell/Confirm';
import { act } from './deeds';
import { factWords } from './record';

/** Asks before a fact goes for good. */
export function DeleteFact({ fact, onAnswer }: { fact: FactView; onAnswer: (yes: boolean) => void }) {
  const words = t.value;
  return (
    <Confirm
      title={words.deleteFactTitle}
      action={words.deleteForGood}
      onAnswer={(yes) => {
        if (yes) void act('deleted', factWords(fact), async () => void (await forget([fact.id])));
        onAnswer(yes);
      }}
    >
      <blockquote dir="auto">{factWords(fact)}</blockquote>
      <p>{words.deleteFactBody}</p>
    </Confirm>
  );
}
