import { useState } from 'preact/hooks';
import type { UpdatePolicy } from 'memstrata';
import { t } from '../i18n/language';
import { troubleOf, type Trouble } from '../memory/trouble';
import { TroubleNote } from '../shell/TroubleNote';
import { configure } from './configure';
import { policies, policy } from './settings';

/** How short-term memory sinks, with what each way does and costs. */
export function Policy() {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const words = t.value;
  const choose = async (chosen: UpdatePolicy): Promise<void> => {
    setTrouble(null);
    try {
      await configure({ updatePolicy: chosen });
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  };
  return (
    <section>
      <fieldset data-testid="policy" data-policy={policy.value}>
        <legend>{words.policyTitle}</legend>
        {policies.map((each) => (
          <label key={each} class="choice">
            <input
              type="radio"
              name="policy"
              value={each}
              data-testid={`policy-${each}`}
              checked={policy.value === each}
              onChange={(event) => {
                // What is checked is what the memory accepted.
                event.currentTarget.checked = policy.value === each;
                void choose(each);
              }}
            />
            <span>
              <b>{words.policies[each]}</b> <span class="quiet">{words.policyNotes[each]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <p role="status" class="quiet">{words.policyNow(words.policies[policy.value])}</p>
      {trouble && <TroubleNote trouble={trouble} />}
    </section>
  );
}
