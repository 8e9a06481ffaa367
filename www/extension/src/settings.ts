/**
 * Settings, in storage of this device: never in `storage.sync`. The key is in `storage.session`, which is RAM, unless its user
 * wants it kept. Incognito reads them and writes none: all of `chrome.storage` is shared with the windows outside.
 */
export interface Settings {
  baseURL: string;
  model: string;
  key: string;
  keepKey: boolean;
  /** Hosts where nothing is ever remembered. */
  never: string[];
}

const DEFAULTS: Settings = { baseURL: '', model: '', key: '', keepKey: false, never: [] };
const NAMES = Object.keys(DEFAULTS) as (keyof Settings)[];

// Absent in an offscreen document, which has no storage either.
export const isIncognito = (): boolean => chrome.extension?.inIncognitoContext === true;

export async function readSettings(): Promise<Settings> {
  const [local, session] = await Promise.all([chrome.storage.local.get<Partial<Settings>>(NAMES), chrome.storage.session.get<Partial<Settings>>(NAMES)]);
  return { ...DEFAULTS, ...local, ...session };
}

export async function writeSettings(changes: Partial<Settings>): Promise<void> {
  if (isIncognito()) throw new Error('incognito writes no settings');
  const { key, ...others } = { ...(await readSettings()), ...changes };
  const kept = others.keepKey ? chrome.storage.local : chrome.storage.session;
  const other = others.keepKey ? chrome.storage.session : chrome.storage.local;
  await other.remove('key');
  await Promise.all([chrome.storage.local.set(others), key === '' ? kept.remove('key') : kept.set({ key })]);
}

/** Only pages and the worker of the extension may read what is kept; by default scripts in web pages may too. */
export async function keepToOurselves(): Promise<void> {
  await Promise.all([chrome.storage.local, chrome.storage.session].map((area) => area.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' })));
}
