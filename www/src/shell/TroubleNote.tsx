import type { ComponentChildren } from 'preact';
import { t } from '../i18n/language';
import type { Trouble } from '../memory/trouble';

/** An error in the reader's language: what happened, what to do, and the engine's own words folded away. */
export function TroubleNote({ trouble, title, children }: { trouble: Trouble; title?: string; children?: ComponentChildren }) {
  const words = t.value;
  const { cause, remedy } = words.troubles[trouble.code];
  return (
    <div class="trouble" role="alert" data-testid="trouble" data-code={trouble.code}>
      {title && <p class="trouble-title">{title}</p>}
      <p>
        <b>{cause}</b> {remedy}
      </p>
      <details>
        <summary>{words.details}</summary>
        <code>
          {trouble.code}: {trouble.detail}
        </code>
      </details>
      {children && <div class="row">{children}</div>}
    </div>
  );
}
