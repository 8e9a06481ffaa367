import { useRef, useState } from 'preact/hooks';
import { t } from '../i18n/language';
import { reopen } from '../memory/open';
import { chatOn, chooseChat, dropChat, endpoint } from './choice';
import { tryConnection } from './connection';
import { ConnectionOutcome, type Attempt } from './ConnectionOutcome';
import { presets, reachable, type Preset } from './presets';

type Lack = 'bad-address' | 'no-model';

export function ChatForm() {
  const [baseURL, setBaseURL] = useState(endpoint.value?.baseURL ?? presets.ollama.baseURL);
  const [model, setModel] = useState(endpoint.value?.model ?? presets.ollama.model);
  const [key, setKey] = useState('');
  const [lack, setLack] = useState<Lack | null>(null);
  const [attempt, setAttempt] = useState<Attempt>({ step: 'none' });
  const form = useRef<HTMLFormElement>(null);
  // Only the newest test may tell: an answer to an older one would belong to another address.
  const latest = useRef(0);
  const words = t.value;
  const preset = (Object.keys(presets) as Preset[]).find((name) => presets[name].baseURL === baseURL.trim()) ?? 'other';

  const typed = () => ({ baseURL: baseURL.trim().replace(/\/+$/, ''), model: model.trim() });
  const changed = (): void => {
    latest.current += 1;
    setLack(null);
    setAttempt({ step: 'none' });
  };
  /** Goes to the field that is wrong. */
  const valid = (): boolean => {
    const found: Lack | null = !reachable(typed().baseURL) ? 'bad-address' : typed().model === '' ? 'no-model' : null;
    setLack(found);
    if (found) form.current?.querySelector<HTMLInputElement>(found === 'bad-address' ? '[name=url]' : '[name=model]')?.focus();
    return found === null;
  };

  const test = async (): Promise<void> => {
    if (attempt.step === 'testing' || !valid()) return;
    latest.current += 1;
    const mine = latest.current;
    setAttempt({ step: 'testing' });
    const result = await tryConnection(typed(), key);
    if (latest.current === mine) setAttempt({ step: 'done', result, model: typed().model });
  };

  const use = (): void => {
    if (!valid()) return;
    chooseChat(typed(), key);
    changed();
    void reopen();
  };

  return (
    <form
      ref={form}
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
            changed();
          }}
        >
          {(Object.keys(presets) as Preset[]).map((name) => (
            <option key={name} value={name}>{words.presets[name]}</option>
          ))}
        </select>
      </label>
      <label>
        {words.baseURL}
        <input type="url" name="url" data-testid="model-url" value={baseURL} aria-invalid={lack === 'bad-address'} aria-describedby="url-hint" autocomplete="off" spellcheck={false} onInput={(event) => { setBaseURL(event.currentTarget.value); changed(); }} />
        <span class="quiet" id="url-hint">{words.baseURLHint}</span>
      </label>
      <label>
        {words.model}
        <input type="text" name="model" data-testid="model-name" value={model} aria-invalid={lack === 'no-model'} autocomplete="off" spellcheck={false} onInput={(event) => { setModel(event.currentTarget.value); changed(); }} />
      </label>
      <label>
        {words.apiKey}
        <input type="password" data-testid="model-key" value={key} aria-describedby="key-hint" autocomplete="off" onInput={(event) => { setKey(event.currentTarget.value); changed(); }} />
        <span class="quiet" id="key-hint">{words.apiKeyHint}</span>
      </label>
      <div class="row">
        {/* Not `disabled` while it asks: the focus would be lost with it. */}
        <button type="button" data-testid="model-test" aria-disabled={attempt.step === 'testing'} onClick={() => void test()}>
          {words.test}
        </button>
        <button type="submit" class="primary" data-testid="model-use">
          {words.use}
        </button>
      </div>
      {lack && <p class="trouble" role="alert">{lack === 'bad-address' ? words.baseURLBad : words.modelMissing}</p>}
      <ConnectionOutcome attempt={attempt} />
    </form>
  );
}
