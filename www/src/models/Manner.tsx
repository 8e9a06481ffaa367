import { t } from '../i18n/language';
import { relationship, style } from './manner';

/** Style and relationship, which go into the prompt of every answer. They are taken up as they are typed. */
export function Manner() {
  const words = t.value;
  return (
    <section class="fields">
      <h3>{words.mannerTitle}</h3>
      <p class="quiet">{words.mannerBody}</p>
      <label>
        {words.style}
        <input type="text" dir="auto" data-testid="style" value={style.value} placeholder={words.styleHint} onInput={(event) => (style.value = event.currentTarget.value)} />
      </label>
      <label>
        {words.relationship}
        <input type="text" dir="auto" data-testid="relationship" value={relationship.value} placeholder={words.relationshipHint} onInput={(event) => (relationship.value = event.currentTarget.value)} />
      </label>
    </section>
  );
}
