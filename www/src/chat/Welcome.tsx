import { t } from '../i18n/language';
import { loadSample, samples, sampleState } from '../sample/load';
import { TroubleNote } from '../shell/TroubleNote';

/** A button that names a conversation in its own language is read out in that language. */
const languageOf = { english: 'en', chinese: 'zh-CN', mixed: undefined } as const;

/** The empty state: two sentences and three conversations to try it with. */
export function Welcome() {
  const words = t.value;
  const state = sampleState.value;
  return (
    <section class="welcome" data-testid="welcome">
      <h2>{words.emptyTitle}</h2>
      <p>{words.emptyBody}</p>
      <div class="row" role="group" aria-label={words.sampleChoice}>
        {samples.map((name) => (
          <button key={name} type="button" lang={languageOf[name]} data-testid={`sample-${name}`} disabled={state.loading !== null} onClick={() => void loadSample(name)}>
            {words.samples[name]}
          </button>
        ))}
      </div>
      {state.loading && <p class="quiet" role="status">{words.sampleLoading}</p>}
      {state.trouble && <TroubleNote trouble={state.trouble} />}
    </section>
  );
}
