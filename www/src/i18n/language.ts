import { computed, effect } from '@preact/signals';
import { preference } from '../shell/preference';
import { en, type Dictionary } from './en';
import { zh } from './zh';

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];

const dictionaries: Record<Language, Dictionary> = { en, zh };

export const language = preference<Language>('language', navigator.language.startsWith('zh') ? 'zh' : 'en', languages);

/** Every word on the page. Read as `t.value.send`, so that a change of language redraws. */
export const t = computed(() => dictionaries[language.value]);

/** The reader's own locale where it speaks the chosen language: an Australian reader of English gets Australian dates. */
const locale = computed(() => navigator.languages.find((each) => each.startsWith(language.value)) ?? (language.value === 'zh' ? 'zh-CN' : 'en'));

const dateTime = computed(() => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' }));
const date = computed(() => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium' }));
const clock = computed(() => new Intl.DateTimeFormat(locale.value, { timeStyle: 'short' }));
const whole = computed(() => new Intl.NumberFormat(locale.value, { maximumFractionDigits: 0 }));
const tenths = computed(() => new Intl.NumberFormat(locale.value, { minimumFractionDigits: 1, maximumFractionDigits: 1 }));
const fine = computed(() => new Intl.NumberFormat(locale.value, { minimumFractionDigits: 2, maximumFractionDigits: 2 }));

export function showTime(ms: number | null): string {
  return ms === null ? t.value.timeUnknown : dateTime.value.format(ms);
}

export function showDate(ms: number | null): string {
  return ms === null ? t.value.timeUnknown : date.value.format(ms);
}

/** A day that is told by its name, such as 2026-05-04, wherever the reader is. */
export function showDay(day: string): string {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ms) ? day : new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeZone: 'UTC' }).format(ms);
}

/** A share of one as a percentage. */
export function showShare(share: number): string {
  return new Intl.NumberFormat(locale.value, { style: 'percent', maximumFractionDigits: 0 }).format(share);
}

/** The time of day alone, under a heading that tells the day. */
export function showClock(ms: number): string {
  return clock.value.format(ms);
}

export function showCount(n: number): string {
  return whole.value.format(n);
}

/** One decimal. */
export function showTenths(n: number): string {
  return tenths.value.format(n);
}

/** A heat in a column of heats; its terms are told to two decimals. */
export function showHeat(value: number, tau?: number): string {
  return below((heat) => (heat < 99.95 ? tenths : whole).value.format(heat), value, tau);
}

/** Rounded, a heat just under tau would read as if it had reached it. */
function below(show: (heat: number) => string, value: number, tau: number | undefined): string {
  return tau !== undefined && value < tau && show(value) === show(tau) ? `<${show(tau)}` : show(value);
}

/** Two decimals: scores, and the terms of a heat. */
export function showScore(value: number, tau?: number): string {
  return below((score) => fine.value.format(score), value, tau);
}

export function showBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${new Intl.NumberFormat(locale.value, { maximumFractionDigits: unit === 0 || size >= 100 ? 0 : 1 }).format(size)} ${units[unit]}`;
}

effect(() => {
  document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en';
  document.title = t.value.pageTitle;
});
