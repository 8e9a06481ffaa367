import { useState } from 'preact/hooks';
import { showCount, t } from '../i18n/language';
import { reopen } from '../memory/open';
import { troubleOf, type Trouble } from '../memory/trouble';
import { TroubleNote } from '../shell/TroubleNote';
import { chatModel, chatOn, chooseChat, dropChat, endpoint } from './choice';
import { presets, reachable, type Preset } from './presets';

type Outcome = { step: 'none' } | { step: 'testing' } | { step: 'ok'; ms: number; text: string } | { step: 'failed'; trouble: Trouble } | { step: 'bad-address' } | { step: 'no-model' };

/** Longest part of a test's answer that is shown. */
const ANSWER_CHARS = 120;

export function ChatForm() {
  const [baseURL, setBaseURL] = useState(endpoint.value?.baseURL ?? presets.ollama.baseURL);
  const [model, setModel] = useState(endpoint.value?.model ?? presets.ollama.model);
  const [key, setKey] = useState('');
  const [outcome, setOutcome] = useState<Outcome>({ step: 'none' });
  const words = t.value;
  const preset = (Object.keys(presets) as Preset[]).find((name) => presets[name].baseURL === baseURL.trim()) ?? 'other';

  const typed = () => ({ baseURL: baseURL.trim().replace(/\/+$/, ''), model: model.trim() });
  const valid = (): boolean => {
    if (!reachable(typed().baseURL)) setOutcome({ step: 'bad-address' });
    else if (typed().model === '') setOutcome({ step: 'no-model' });
    else return true;
    return false;
  };

  const test = async (): Promise<void> => {
    if (!valid()) return;
    setOutcome({ step: 'testing' });
    const begun = performance.now();
    try {
      const provider = (await chatModel(typed(), key))!;
      const result = await provider.chat({ messages: [{ role: 'user', content: 'Reply with the one word: ready' }], maxOutputTokens: 64 });
      setOutcome({ step: 'ok', ms: Math.round(performance.now() - begun), text: result.text.trim().slice(0, ANSWER_CHARS) });
    } catch (error) {
      setOutcome({ step: 'failed', trouble: troubleOf(error) });
    }
  };

  const use = (): void => {
    if (!valid()) return;
    chooseChat(typed(), key);
    setOutcome({ step: 'none' });
    void reopen();
  };

  return (
    <form
      class="fields"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        use();
      }}
    >
      <h3>{words.chatModelTitle}</h3>
      <p class="quiet">{words.chatModelBody}</p>
      {chatOn.value && (
        <p data-testid="model-in-use">
          <b>{words.using(endpoint.value?.model ?? '')}</b>{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              dropChat();
              void reopen();
            }}
          >
            {words.stopUsing}
          </button>
        </p>
      )}
      {!chatOn.value && endpoint.value && reachable(endpoint.value.baseURL) && <p class="quiet">{words.keyNeeded}</p>}
      <label>
        {words.preset}
        <select
          value={preset}
          onChange={(event) => {
            const chosen = event.currentTarget.value as Preset;
            setBaseURL(presets[chosen].baseURL);
            setModel(presets[chosen].model);
            setOutcome({ step: 'none' });
          }}
        >
          {(Object.keys(presets) as Preset[]).map((name) => (
            <option key={name} value={name}>{words.presets[name]}</option>
          ))}
        </select>
      </label>
      <label>
        {words.baseURL}
        <input type="url" data-testid="model-url" value={baseURL} aria-invalid={outcome.step === 'bad-address'} aria-describedby="url-hint" autocomplete="off" spellcheck={false} onInput={(event) => setBaseURL(event.currentTarget.value)} />
        <span class="quiet" id="url-hint">{words.baseURLHint}</span>
      </label>
      <label>
        {words.model}
        <input type="text" data-testid="model-name" value={model} aria-invalid={outcome.step === 'no-model'} autocomplete="off" spellcheck={false} onInput={(event) => setModel(event.currentTarget.value)} />
      </label>
      <label>
        {words.apiKey}
        <input type="password" data-testid="model-key" value={key} aria-describedby="key-hint" autocomplete="off" onInput={(event) => setKey(event.currentTarget.value)} />
        <span class="quiet" id="key-hint">{words.apiKeyHint}</span>
      </label>
      <div class="row">
        <button type="button" data-testid="model-test" disabled={outcome.step === 'testing'} onClick={() => void test()}>
          {words.test}
        </button>
        <button type="submit" class="primary" data-testid="model-use">
          {words.use}
        </button>
      </div>
      <p role="status" data-testid="model-outcome" data-step={outcome.step}>
        {outcome.step === 'testing' && words.testing}
        {outcome.step === 'ok' && words.testOk(showCount(outcome.ms), outcome.text)}
      </p>
      {outcome.step === 'bad-address' && <p class="trouble" role="alert">{words.baseURLBad}</p>}
      {outcome.step === 'no-model' && <p class="trouble" role="alert">{words.modelMissing}</p>}
      {outcome.step === 'failed' && <TroubleNote trouble={outcome.trouble} />}
    </form>
  );
}
