import { describe, expect, test } from 'vitest';
import { MemoryOSError } from '../errors.js';
import { systemFirst, userFirst } from './messages.js';
import { checkGiven, inModes, providerFailure, Turns, withoutKeys } from './object-model.js';
import type { ChatRequest, OutputMode } from './types.js';

test('keys are taken out of the words of others, and other words are left', () => {
  const keys = ['sk-proj-abcdefgh12345678', 'sk-ant-api03-abcdefgh', 'AIzaSyA1234567890abcdefghij', 'gsk_abcdefgh1234', 'hf_abcdefghijkl'];
  for (const key of keys) expect(withoutKeys(`wrong key: ${key}.`)).toBe('wrong key: [key].');
  expect(withoutKeys('GET https://x/v1?model=m&api_key=abc&x=1 with Bearer abc.def')).toBe('GET https://x/v1?model=m&api_key=[key]&x=1 with Bearer [key]');
  const harmless = 'the task-oriented model gpt-4o-mini-2024-07-18 is not found; risk-based; hf.co/x';
  expect(withoutKeys(harmless)).toBe(harmless);
});

test('whatever is thrown becomes one kind of error', () => {
  const own = new MemoryOSError('PROVIDER_BAD_REPLY', 'x');
  expect(providerFailure('It', own)).toBe(own);
  expect(providerFailure('It', 'broken')).toMatchObject({ code: 'PROVIDER_FAILED', message: 'It failed: broken', data: { cause: 'unknown' } });
  expect(providerFailure('It', undefined).message).toBe('It failed: undefined');
  expect(providerFailure('It', new DOMException('', 'OperationError')).message).toBe('It failed: OperationError');
  expect(providerFailure('It', new DOMException('slow', 'TimeoutError'))).toMatchObject({ code: 'PROVIDER_TIMEOUT', data: { cause: 'timeout' } });
  expect(providerFailure('It', new Error('late'), AbortSignal.abort('enough'))).toMatchObject({ code: 'ABORTED', cause: 'enough' });
});

describe('turns', () => {
  test('the next begins when the one before has ended, also when nobody waits for it any more', async () => {
    const turns = new Turns();
    const order: string[] = [];
    let end: () => void = () => undefined;
    const cut = new AbortController();
    const first = turns.run(cut.signal, () => new Promise<void>((resolve) => (end = resolve)).then(() => void order.push('first ends')));
    const second = turns.run(undefined, async () => void order.push('second begins'));
    await new Promise(setImmediate);
    cut.abort();
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    end();
    await second;
    expect(order).toEqual(['first ends', 'second begins']);
  });

  test('a failure passes to its own caller alone', async () => {
    const turns = new Turns();
    const failing = turns.run(undefined, () => Promise.reject(new Error('broken')));
    const next = turns.run(undefined, async () => 'ok');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('ok');
  });
});

describe('ways of asking', () => {
  const ask = (request: Partial<ChatRequest>, refuses: OutputMode[], options: { has?: OutputMode[]; refused?: Set<OutputMode>; message?: string; heard?: boolean } = {}) => {
    const tried: OutputMode[] = [];
    const full: ChatRequest = { messages: [], responseSchema: { name: 'x', schema: {} }, ...request };
    const result = inModes(full, options.has ?? ['json_schema', 'json_object', 'tool_call'], options.refused ?? new Set(), async (mode, { onText }) => {
      tried.push(mode);
      if (options.heard) onText?.('a');
      if (refuses.includes(mode)) throw new Error(options.message ?? 'the schema is not supported');
      return { text: '', finishReason: 'stop' };
    });
    return { tried, result };
  };

  test('a refusal leads to the next, and is kept once another way has worked', async () => {
    const refused = new Set<OutputMode>();
    const first = ask({}, ['json_schema', 'json_object'], { refused });
    expect(await first.result).toMatchObject({ outputMode: 'tool_call' });
    expect([first.tried, [...refused]]).toEqual([['json_schema', 'json_object', 'tool_call'], ['json_schema', 'json_object']]);
    const second = ask({}, [], { refused });
    await second.result;
    expect(second.tried).toEqual(['tool_call']);
    const none = new Set<OutputMode>();
    await expect(ask({}, ['json_schema', 'json_object', 'tool_call', 'plain'], { refused: none }).result).rejects.toThrow('not supported');
    expect(none.size).toBe(0);
  });

  test('a passing fault of a server that speaks of JSON is no refusal', async () => {
    const fault = (statusCode: number) => {
      const tried: OutputMode[] = [];
      const result = inModes({ messages: [], responseSchema: { name: 'x', schema: {} } }, ['json_schema', 'tool_call'], new Set(), async (mode) => {
        tried.push(mode);
        if (mode === 'json_schema') throw Object.assign(new Error('Invalid JSON response'), { statusCode });
        return { text: '', finishReason: 'stop' };
      });
      return result.then(() => tried, () => tried);
    };
    expect([await fault(502), await fault(429), await fault(400)]).toEqual([['json_schema'], ['json_schema'], ['json_schema', 'tool_call']]);
  });

  test('nothing is asked again for another failure, after words were heard, or where no JSON is wanted', async () => {
    for (const [request, options] of [[{}, { message: 'out of memory' }], [{ onText: () => undefined }, { heard: true }], [{ abortSignal: AbortSignal.abort() }, {}]] as const) {
      const { tried, result } = ask(request, ['json_schema'], options);
      await expect(result).rejects.toThrow();
      expect(tried).toEqual(['json_schema']);
    }
    const words = inModes({ messages: [] }, ['json_schema'], new Set(), async (mode) => ({ text: mode, finishReason: 'stop' }));
    expect(await words).toEqual({ text: 'plain', finishReason: 'stop' });
  });

  test('a request is never asked in a stronger way than it wants', async () => {
    const { tried, result } = ask({ outputMode: 'tool_call' }, [], { has: ['json_schema'] });
    expect(await result).toMatchObject({ outputMode: 'plain' });
    expect(tried).toEqual(['plain']);
  });
});

test('system messages are one, in front, and the given list stays as it was', () => {
  const messages: ChatRequest['messages'] = [{ role: 'user', content: 'q' }, { role: 'system', content: 'a' }, { role: 'system', content: 'b' }];
  const before = structuredClone(messages);
  expect(systemFirst(messages)).toEqual([{ role: 'system', content: 'a\n\nb' }, { role: 'user', content: 'q' }]);
  expect(systemFirst([{ role: 'user', content: 'q' }])).toEqual([{ role: 'user', content: 'q' }]);
  expect(messages).toEqual(before);
});

test('the user speaks first where he must', () => {
  expect(userFirst([])).toEqual([{ role: 'user', content: '…' }]);
  expect(userFirst([{ role: 'assistant', content: 'a' }])).toEqual([{ role: 'user', content: '…' }, { role: 'assistant', content: 'a' }]);
  expect(userFirst([{ role: 'user', content: 'q' }])).toEqual([{ role: 'user', content: 'q' }]);
});

test('what was left out is named', () => {
  expect(() => checkGiven(undefined, 'engine', 'run', 'm')).toThrow(/`engine` must be an object with the method run, got undefined/);
  expect(() => checkGiven({ run: 1 }, 'engine', 'run', 'm')).toThrow(/must be an object with the method run/);
  expect(() => checkGiven({ run: () => 1 }, 'engine', 'run', '')).toThrow(/model must be the name of a model, got ""/);
});
