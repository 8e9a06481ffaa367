import { expect, test } from 'vitest';
import { en } from '../src/i18n/en';
import { zh } from '../src/i18n/zh';

type Words = { [key: string]: Words } | string | ((...args: never[]) => string);

/** Every leaf as `path: text`; functions are called with stand-ins that must come out again. */
function leaves(words: Words, path = ''): [string, string][] {
  if (typeof words === 'string') return [[path, words]];
  if (typeof words === 'function') return [[path, words(...(Array.from({ length: words.length }, (_, index) => index + 2) as never[]))]];
  return Object.entries(words).flatMap(([key, inner]) => leaves(inner, path ? `${path}.${key}` : key));
}

const english = new Map(leaves(en as unknown as Words));
const chinese = new Map(leaves(zh as unknown as Words));

test('both languages have the same keys, and no text is empty', () => {
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  for (const [path, text] of [...english, ...chinese]) expect(text.trim(), path).not.toBe('');
});

test('what is put into a sentence comes out in both languages', () => {
  for (const [path, text] of english) {
    for (const stand of ['2', '3']) if (text.includes(stand) && !/0x|2\.9|127/.test(text)) expect(chinese.get(path), path).toContain(stand);
  }
});

test('Chinese is Chinese, but for names and terms', () => {
  const latin = [...chinese].filter(([, text]) => !/[\u4e00-\u9fff]/.test(text)).map(([path]) => path);
  expect(latin).toEqual(['languageNames.en', 'assistant', 'samples.english', 'threshold', 'presets.openai']);
});

test('every code has a cause and a remedy of its own', () => {
  for (const words of [en, zh]) {
    const troubles = Object.values(words.troubles);
    expect(new Set(troubles.map((trouble) => trouble.cause)).size).toBe(troubles.length);
    expect(new Set(troubles.map((trouble) => trouble.remedy)).size).toBe(troubles.length);
  }
});

test('every cause of a failed connection has words and a remedy of its own', () => {
  for (const words of [en, zh]) {
    const told = Object.values(words.connection);
    expect(new Set(told.map(({ cause }) => cause)).size).toBe(told.length);
    expect(new Set(told.map(({ remedy }) => remedy('https://here.example', 'some-model'))).size).toBe(told.length);
    expect(words.connection.local.remedy('https://here.example', '')).toContain('OLLAMA_ORIGINS=https://here.example');
    expect(words.connection['not-found'].remedy('', 'some-model')).toContain('some-model');
  }
});
