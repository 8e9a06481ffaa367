/** Every word that is shown, from _locales, in the browser's language. */
import type en from '../public/_locales/en/messages.json';

export type WordKey = keyof typeof en;

export function t(key: WordKey, ...about: string[]): string {
  return chrome.i18n.getMessage(key, about);
}

/** The language of the words themselves, which is English where the browser's own is missing. */
export const lang = (): string => (chrome.i18n.getMessage('@@ui_locale').startsWith('zh') ? 'zh-CN' : 'en');
