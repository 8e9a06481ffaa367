import { useState } from 'preact/hooks';
import { t } from '../i18n/language';

/** The packed context, word for word. */
export function ContextText({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const words = t.value;
  return (
    <section>
      <h3>{words.contextTitle}</h3>
      <p class="quiet">{words.contextNote}</p>
      {text === '' ? (
        <p class="quiet">{words.contextEmpty}</p>
      ) : (
        <>
          <pre class="context" tabIndex={0} role="region" aria-label={words.contextTitle} dir="auto" data-testid="context">{text}</pre>
          <button
            type="button"
            onClick={() =>
              void navigator.clipboard.writeText(text).then(
                () => setCopied(true),
                () => setCopied(false),
              )
            }
          >
            <span aria-live="polite">{copied ? words.copied : words.copy}</span>
          </button>
        </>
      )}
    </section>
  );
}
