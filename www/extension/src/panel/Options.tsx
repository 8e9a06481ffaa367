import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { reachable } from '../../../src/models/presets';
import { isIncognito, readSettings, writeSettings, type Settings } from '../settings';
import { hostOf } from '../sites';
import { t } from '../words';

const EMPTY: Settings = { baseURL: '', model: '', key: '', keepKey: false, never: [] };

export function Options() {
  const settings = useSignal<Settings>(EMPTY);
  const reread = async (): Promise<void> => {
    settings.value = await readSettings();
  };
  useEffect(() => void reread(), []);
  if (isIncognito()) return <p class="place" data-testid="outside">{t('settingsOutside')}</p>;
  return (
    <div class="place">
      <Model settings={settings.value} onChange={reread} />
      <Never never={settings.value.never} onChange={reread} />
    </div>
  );
}

interface Said {
  text: string;
  bad: boolean;
  /** Where the extension was refused, and may ask its user to be let in. */
  refused?: string;
}

function Model({ settings, onChange }: { settings: Settings; onChange: () => Promise<void> }) {
  const said = useSignal<Said>({ text: '', bad: false });
  const typed = (form: HTMLFormElement): Pick<Settings, 'baseURL' | 'model' | 'key' | 'keepKey'> | undefined => {
    const entries = new FormData(form);
    const of = (name: string): string => String(entries.get(name) ?? '').trim();
    const baseURL = of('address');
    if (!reachable(baseURL)) said.value = { text: t('badAddress'), bad: true };
    else if (of('model') === '') said.value = { text: t('noModel'), bad: true };
    // A key goes to the server it was given for, and to no other.
    else return { baseURL, model: of('model'), key: of('key') || (baseURL === settings.baseURL ? settings.key : ''), keepKey: entries.has('keep') };
    return undefined;
  };
  const use = async (form: HTMLFormElement): Promise<void> => {
    const chosen = typed(form);
    if (!chosen) return;
    await writeSettings(chosen);
    (form.elements.namedItem('key') as HTMLInputElement).value = '';
    said.value = { text: t('saved'), bad: false };
    await onChange();
  };
  const test = async (form: HTMLFormElement): Promise<void> => {
    const chosen = typed(form);
    if (!chosen) return;
    said.value = { text: t('testing'), bad: false };
    const { openAICompatible, testConnection } = await import('memstrata/providers');
    const { baseURL, model, key } = chosen;
    const result = await testConnection(openAICompatible({ baseURL, model, ...(key === '' ? {} : { apiKey: key }) }));
    if (result.ok) said.value = { text: t('testOk', String(Math.round(result.ms))), bad: false };
    else said.value = { text: t('testFailed', result.message), bad: true, ...(result.cause === 'cors' || result.cause === 'local' ? { refused: new URL(baseURL).origin } : {}) };
  };
  return (
    <form class="fields" noValidate key={settings.baseURL + settings.model} onSubmit={(event) => { event.preventDefault(); void use(event.currentTarget); }}>
      <h2>{t('model')}</h2>
      <p class="quiet">{t('modelBody')}</p>
      <p data-testid="model-now">{settings.model === '' ? t('memoryOnly') : t('inUse', settings.model)}</p>
      <label>
        {t('address')}
        <input type="url" name="address" data-testid="address" autocomplete="off" spellcheck={false} defaultValue={settings.baseURL} aria-describedby="address-hint" />
      </label>
      <p class="quiet" id="address-hint">{t('addressHint')}</p>
      <label>
        {t('modelName')}
        <input type="text" name="model" data-testid="model" autocomplete="off" spellcheck={false} defaultValue={settings.model} />
      </label>
      <label>
        {t('key')}
        <input type="password" name="key" data-testid="key" autocomplete="off" aria-describedby="key-hint" />
      </label>
      <p class="quiet" id="key-hint">{settings.key === '' ? t('keyHint') : t('keptKey')}</p>
      <label class="row">
        <input type="checkbox" name="keep" data-testid="keep" defaultChecked={settings.keepKey} /> {t('keepKey')}
      </label>
      <div class="row">
        <button type="submit" class="primary" data-testid="use">{t('use')}</button>
        <button type="button" data-testid="test" onClick={(event) => void test(event.currentTarget.form!)}>{t('test')}</button>
        {settings.model !== '' && (
          <button type="button" data-testid="drop" onClick={() => void writeSettings({ baseURL: '', model: '', key: '' }).then(onChange)}>{t('drop')}</button>
        )}
      </div>
      <p role="status" class={said.value.bad ? 'trouble' : ''} data-testid="model-said">{said.value.text}</p>
      {said.value.refused && (
        <button type="button" onClick={() => void chrome.permissions.request({ origins: [`${said.value.refused!.replace(/:\d+$/, '')}/*`] })}>{t('grant', said.value.refused)}</button>
      )}
    </form>
  );
}

function Never({ never, onChange }: { never: string[]; onChange: () => Promise<void> }) {
  const said = useSignal('');
  const bad = useSignal(false);
  const save = async (text: string): Promise<void> => {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const wrong = lines.find((line) => hostOf(line) === undefined);
    bad.value = wrong !== undefined;
    said.value = wrong === undefined ? t('saved') : t('neverBad', wrong);
    if (wrong !== undefined) return;
    await writeSettings({ never: [...new Set(lines.map((line) => hostOf(line)!))] });
    await onChange();
  };
  return (
    <form class="fields" key={never.join()} onSubmit={(event) => { event.preventDefault(); void save(String(new FormData(event.currentTarget).get('never'))); }}>
      <h2><label for="never">{t('never')}</label></h2>
      <p class="quiet" id="never-hint">{t('neverBody')}</p>
      <textarea id="never" name="never" rows={4} data-testid="never" spellcheck={false} aria-describedby="never-hint" defaultValue={never.join('\n')} />
      <div class="row"><button type="submit" data-testid="save-never">{t('save')}</button></div>
      <p role="status" class={bad.value ? 'trouble' : ''} data-testid="never-said">{said.value}</p>
    </form>
  );
}
