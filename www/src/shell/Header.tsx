import { language, languages, t, type Language } from '../i18n/language';
import { status } from '../memory/open';
import { go } from './places';
import { theme, themes, type Theme } from './theme';

export function Header() {
  const words = t.value;
  return (
    <header class="top">
      <a
        class="skip"
        href="#chat-input"
        onClick={(event) => {
          event.preventDefault();
          go('chat');
          document.getElementById('chat-input')?.focus();
        }}
      >
        {words.skipToChat}
      </a>
      <h1>
        <Mark />
        <span>memstrata</span>
      </h1>
      <p class="brand-line">{words.brandLine}</p>
      <p class="status" role="status" aria-label={words.statusLabel} data-state={status.value}>
        <span class="dot" aria-hidden="true" />
        <span data-testid="status">{words.status[status.value]}</span>
      </p>
      <label>
        <span class="visually-hidden">{words.language}</span>
        <select data-testid="lang" value={language.value} onChange={(event) => (language.value = event.currentTarget.value as Language)}>
          {languages.map((each) => (
            <option key={each} value={each} lang={each}>{words.languageNames[each]}</option>
          ))}
        </select>
      </label>
      <label>
        <span class="visually-hidden">{words.theme}</span>
        <select data-testid="theme" value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
          {themes.map((each) => (
            <option key={each} value={each}>{words.themeNames[each]}</option>
          ))}
        </select>
      </label>
    </header>
  );
}

/** Three strata in a square. */
function Mark() {
  return (
    <svg class="mark-sign" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <circle cx="5" cy="4" r="1.9" />
      <circle cx="10.5" cy="3.6" r="1.9" />
      <rect x="1" y="8" width="18" height="3.2" rx="1" class="warm" />
      <rect x="1" y="12.6" width="11" height="2.2" rx="1" class="cool" />
      <path d="M1 17c5-1.6 11 1.4 18 0v2.4H1z" class="rock" />
    </svg>
  );
}
