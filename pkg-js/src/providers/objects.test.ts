import { describe, expect, test } from 'vitest';
import { fakeChrome, fakeExtractor, fakeGenerator, fakeSdkEmbedder, fakeSdkModel, fakeWebLLM, fakeWllama } from '../fixtures/engines.js';
import type { SdkVersion } from '../fixtures/engines.js';
import { aiSdk } from './ai-sdk.js';
import { chromePrompt } from './chrome-prompt.js';
import type { ProviderSubject } from './conformance.js';
import { providerConformance } from './conformance.js';
import { transformersJs, transformersJsEmbedder } from './transformers-js.js';
import { webLLM } from './web-llm.js';
import { wllama } from './wllama.js';

const subjects: Record<string, ProviderSubject> = {
  'web-llm': {
    chat: (script) => webLLM({ engine: fakeWebLLM(script), model: 'm' }),
    embedder: (script) => webLLM({ engine: fakeWebLLM(script), model: 'm', dimensions: 2 }),
  },
  wllama: {
    chat: (script) => wllama({ wllama: fakeWllama(script), model: 'm' }),
    embedder: (script) => wllama({ wllama: fakeWllama(script), model: 'm', dimensions: 2 }),
  },
  'transformers-js': {
    chat: (script) => transformersJs({ pipeline: fakeGenerator(script), model: 'm', maxOutputTokens: 7 }),
    embedder: (script) => transformersJsEmbedder({ pipeline: fakeExtractor(script), model: 'm', dimensions: 2 }),
    cannotTell: ['refusal'],
  },
};
for (const version of ['old', 'middle', 'new'] as const) {
  subjects[`chrome, ${version}`] = { chat: (script) => chromePrompt({ languageModel: fakeChrome(script, { version }) }), cannotTell: ['refusal'] };
}
for (const version of ['v2', 'v3', 'v4'] satisfies SdkVersion[]) {
  subjects[`ai-sdk ${version}`] = {
    chat: (script) => aiSdk(fakeSdkModel(script, { version })),
    embedder: (script) => aiSdk(fakeSdkEmbedder(script, version), { dimensions: 2 }),
  };
}

describe.each(Object.entries(subjects))('%s', (_name, subject) => {
  const tests = providerConformance(subject);
  for (const { name, run } of tests) test(`s16_${name}`, run);

  test('the suite is run as far as the model can tell', () => expect(tests.length).toBeGreaterThanOrEqual(10));
});
