/**
 * The service worker: menus, the panel's button, and the keeper of the memory's host. It has no memory itself: it sleeps after
 * half a minute, and has no Workers, so the engine would be loaded again and again and hold it up while it works.
 */
import { connectMemory, keepHost } from 'memstrata/extension';
import { CHANNEL, HOST_PAGE, isMessage, type HowToOpen, type Message } from './names';
import { finish, remember } from './remember';
import { isIncognito, keepToOurselves, readSettings } from './settings';
import { t } from './words';

const REMEMBER = 'remember';

const { ready } = keepHost({ channel: CHANNEL, url: HOST_PAGE });
const memory = connectMemory({ channel: CHANNEL, wake: ready });

chrome.runtime.onInstalled.addListener(() => {
  void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
  chrome.contextMenus.create({ id: REMEMBER, title: t('remember'), contexts: ['selection'] }, () => void chrome.runtime.lastError);
});

chrome.contextMenus.onClicked.addListener((asked, tab) => {
  if (asked.menuItemId === REMEMBER) void remember(asked, tab, memory);
});

// The host has no storage of its own to read settings from.
chrome.runtime.onMessage.addListener((message: unknown, sender, reply) => {
  if (!isMessage('how-to-open', message, sender)) return undefined;
  void readSettings().then(({ baseURL, model, key }) => reply({ baseURL, model, key, ephemeral: isIncognito() } satisfies HowToOpen));
  return true;
});

chrome.storage.onChanged.addListener((changes) => {
  if (!['baseURL', 'model', 'key'].some((name) => name in changes)) return;
  void chrome.runtime.sendMessage({ type: 'settings-changed' } satisfies Message).catch(() => undefined);
});

void keepToOurselves().then(() => finish(memory));
