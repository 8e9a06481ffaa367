import { expect, test } from 'vitest';

const sources = import.meta.glob<string>(['../src/**/*.{ts,tsx}', '../extension/src/**/*.{ts,tsx}'], { query: '?raw', import: 'default', eager: true });

test('nothing of memory or of a model can become markup: there is no way to it in the page', () => {
  expect(Object.keys(sources).length).toBeGreaterThan(100);
  const ways = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function\(/;
  expect(Object.entries(sources).filter(([, text]) => ways.test(text)).map(([path]) => path)).toEqual([]);
});

test('only the public package is imported', () => {
  const bare = Object.values(sources).flatMap((text) => [...text.matchAll(/(?:^import .* from |\bimport\()'([^.'][^']*)'/gm)].map((found) => found[1]));
  expect([...new Set(bare)].sort()).toEqual(['@preact/signals', 'memstrata', 'memstrata/extension', 'memstrata/providers', 'memstrata/retrievers', 'memstrata/sample.json', 'preact', 'preact/hooks']);
});
