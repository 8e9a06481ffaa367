import { describe, expect, test } from 'vitest';
import { MemoryOSError } from '../errors.js';
import { scriptedChat } from '../providers/scripted.js';
import { PageHost } from './host.js';

const never = new AbortController().signal;
const ASK = { messages: [{ role: 'user' as const, content: 'q' }] };

/** A model whose answers are let go one by one. */
function gated(maxConcurrency?: number) {
  const waiting: ((text: string) => void)[] = [];
  const asked: string[] = [];
  const chat = scriptedChat((request) => {
    asked.push(request.messages[0]?.content ?? '');
    return new Promise<string>((resolve) => waiting.push(resolve));
  }, maxConcurrency === undefined ? {} : { maxConcurrency });
  return { chat, waiting, asked };
}

const settled = () => new Promise(setImmediate);

describe('concurrency', () => {
  test('o19_background_calls_keep_to_the_models_limit_and_an_answer_goes_first', async () => {
    for (const [limit, most] of [[undefined, 2], [3, 3]] as const) {
      const { chat, waiting, asked } = gated(limit);
      const host = new PageHost({ chat });
      const ask = (content: string, callId?: string) => host.handlers.chat([{ messages: [{ role: 'user', content }] }, callId], never);
      const background = Array.from({ length: 5 }, (_, at) => ask(`b${at}`));
      host.listen('r1', {});
      const answer = ask('answer', 'r1');
      await settled();
      expect(asked).toHaveLength(most);
      waiting[0]?.('done');
      await settled();
      expect(asked.slice(most)).toEqual(['answer']);
      for (let at = 1; at < 6; at++) {
        waiting[at]?.('done');
        await settled();
        expect(asked.length - at - 1).toBeLessThanOrEqual(most);
      }
      await Promise.all([...background, answer]);
    }
  });

  test('o19_a_call_that_is_cut_off_while_it_waits_frees_its_place', async () => {
    const { chat, waiting, asked } = gated(1);
    const host = new PageHost({ chat });
    const first = host.handlers.chat([ASK, undefined], never);
    const cut = new AbortController();
    const second = Promise.resolve(host.handlers.chat([ASK, undefined], cut.signal)).catch((error: unknown) => error);
    const third = host.handlers.chat([ASK, undefined], never);
    cut.abort();
    expect(await second).toMatchObject({ code: 'ABORTED' });
    waiting[0]?.('one');
    await settled();
    waiting[1]?.('three');
    expect([(await first).text, (await third).text, asked.length]).toEqual(['one', 'three', 2]);
  });
});

test('case_43_the_mode_of_the_request_and_of_the_answer_pass_through', async () => {
  const chat = scriptedChat({ text: '{}', outputMode: 'plain' });
  const host = new PageHost({ chat });
  const request = { ...ASK, responseSchema: { name: 'x', schema: '{"type":"object"}' }, outputMode: 'json_object' as const };
  expect(await host.handlers.chat([request, undefined], never)).toEqual({ text: '{}', finishReason: 'stop', outputMode: 'plain' });
  expect(chat.calls[0]).toMatchObject({ outputMode: 'json_object', responseSchema: { name: 'x', schema: { type: 'object' } } });
});

describe('counting tokens', () => {
  const count = (countTokens: (text: string) => number | Promise<number>, ...texts: string[]) => Promise.resolve(new PageHost({ countTokens }).handlers.count([texts], never));

  test('is the caller’s, text by text', async () => {
    expect(await count((text) => text.length, 'a', '', 'abc')).toEqual([1, 0, 3]);
    expect(await count(async () => 2.5, 'a')).toEqual([2.5]);
  });

  test('that gives no number of tokens is named', async () => {
    for (const [value, shown] of [[Number.NaN, 'NaN'], [-1, '-1'], [Infinity, 'Infinity'], ['3', '"3"'], [undefined, 'undefined']] as const) {
      await expect(count(() => value as number, 'a')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: `countTokens must give a finite number that is not negative, gave ${shown}` });
    }
  });

  test('that throws keeps its own error', async () => {
    const own = new RangeError('too long');
    await expect(count(() => { throw own; }, 'a')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: 'countTokens failed: too long', cause: own });
  });
});

test('what was not given is not there', async () => {
  for (const call of [() => new PageHost({}).handlers.chat([ASK, undefined], never), () => new PageHost({}).handlers.count([['a']], never)]) {
    await expect((async () => call())()).rejects.toBeInstanceOf(MemoryOSError);
  }
});
