import { describe, expect, test } from 'vitest';
import { readContent } from './content.js';
import { readMetadata } from './metadata.js';
import { readConfig, readIdentity } from './open.js';
import { readQuery, readRetrieveOptions } from './query.js';
import { readInstant, readTimestamp } from './time.js';
import { readTurn } from './turn.js';

const NOW = 1_700_000_000_000;

describe('content', () => {
  test('case_11_parts_of_text_are_joined_and_others_kept_as_references', () => {
    const turn = readTurn({
      userInput: [
        { type: 'text', text: 'Look at this:' },
        { type: 'image_url', image_url: { url: 'https://example.org/cat.png', detail: 'low' } },
        { type: 'file', file: { filename: 'notes.pdf', file_data: `data:application/pdf;base64,${'A'.repeat(50_000)}` } },
        { type: 'input_text', text: 'what is it?' },
      ],
      agentResponse: 'A cat.',
    }, NOW);
    expect(turn.userInput).toBe('Look at this:\nwhat is it?');
    expect(turn.metadata.attachments).toEqual([
      { side: 'user', type: 'image_url', image_url: { url: 'https://example.org/cat.png', detail: 'low' } },
      { side: 'user', type: 'file', file: { filename: 'notes.pdf', file_data: 'data:application/pdf of 50028 characters, not kept' } },
    ]);
  });

  test('a turn of nothing but a picture is kept; one of nothing at all is refused', () => {
    expect(readTurn({ userInput: [{ type: 'image', source: { data: new Uint8Array(9) } }], agentResponse: '' }, NOW).metadata.attachments)
      .toEqual([{ side: 'user', type: 'image', source: { data: '9 bytes, not kept' } }]);
    expect(() => readTurn({ userInput: ' ', agentResponse: '' }, NOW)).toThrow(/both empty/);
  });

  test('case_16_one_empty_side_is_kept_and_a_long_message_is_not_cut', () => {
    expect(readTurn({ userInput: '', agentResponse: 'hello' }, NOW)).toMatchObject({ userInput: '', agentResponse: 'hello' });
    expect(readTurn({ userInput: 'hello', agentResponse: null }, NOW)).toMatchObject({ userInput: 'hello', agentResponse: '' });
    const long = '记忆 memory '.repeat(20_000);
    expect(readTurn({ userInput: long, agentResponse: '' }, NOW).userInput).toBe(long);
  });

  test('what is neither text nor parts is refused by its value', () => {
    expect(() => readContent(42, 'userInput')).toThrow('userInput must be a string or a list of parts, got 42');
    expect(() => readContent([7], 'userInput')).toThrow('userInput[0] must be a part with a type, got 7');
  });
});

describe('metadata', () => {
  test('case_20_prototype_keys_are_dropped_at_every_depth', () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"prototype":2,"toString":"text","deep":[{"__proto__":{"x":1},"ok":true}]}') as unknown;
    const clean = readMetadata(hostile, 'metadata');
    expect(Object.keys(clean)).toEqual(['toString', 'deep']);
    expect(clean.toString).toBe('text');
    expect(JSON.stringify(clean.deep)).toBe('[{"ok":true}]');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('what JSON cannot hold is refused by its path', () => {
    expect(() => readMetadata({ a: [{ f: () => 1 }] }, 'metadata')).toThrow(/metadata\.a\[0\]\.f must be a JSON value/);
    expect(() => readMetadata({ big: 10n }, 'metadata')).toThrow('metadata.big must be a JSON value, got 10');
    expect(() => readMetadata([1], 'metadata')).toThrow(/must be a plain object/);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(() => readMetadata(circular, 'metadata')).toThrow(/nested deeper than 32/);
  });

  test('dates become text, NaN becomes null, undefined is left out, halves of surrogates are replaced', () => {
    expect(readMetadata({ d: new Date(0), n: Number.NaN, u: undefined, s: '\ud83d', '\udf0d': 1 }, 'metadata'))
      .toEqual({ d: '1970-01-01T00:00:00.000Z', n: null, s: '\ufffd', '\ufffd': 1 });
  });
});

describe('timestamps', () => {
  test('case_26_an_offset_in_the_text_is_kept', () => {
    expect(readTimestamp('2023-05-24T22:30:00-04:00', NOW)).toEqual({ epochMs: 1_684_981_800_000, offsetMinutes: -240 });
    expect(readTimestamp('2023-05-25T08:00+0530', NOW)).toEqual({ epochMs: 1_684_981_800_000, offsetMinutes: 330 });
    expect(readTimestamp('2023-05-25T02:30:00.250Z', NOW)).toEqual({ epochMs: 1_684_981_800_250, offsetMinutes: 0 });
    expect(readTimestamp('2023-05-25', NOW)).toEqual({ epochMs: 1_684_972_800_000, offsetMinutes: 0 });
  });

  test('numbers, dates and nothing are in the zone of this machine', () => {
    const offsetMinutes = -new Date(NOW).getTimezoneOffset() || 0;
    for (const value of [NOW, new Date(NOW), undefined]) expect(readTimestamp(value, NOW)).toEqual({ epochMs: NOW, offsetMinutes });
    expect(readTimestamp('2023-05-25T02:30:00', NOW).epochMs).toBe(new Date('2023-05-25T02:30:00').getTime());
  });

  test('case_27_malformed_times_are_accepted_as_unknown', () => {
    const malformed = ['yesterday', '', '2023-13-01', '2023-02-30', '2023-05-25T25:00', '2023-05-25T02:30+99:00', Number.NaN, Infinity, 9e15, null, {}, new Date(Number.NaN)];
    for (const value of malformed) expect(readTimestamp(value, NOW)).toEqual({ epochMs: null, offsetMinutes: 0 });
  });

  test('a bound of a filter must be readable', () => {
    expect(readInstant('2023-05-25', 'filter.from')).toBe(1_684_972_800_000);
    expect(() => readInstant('soon', 'filter.from')).toThrow('filter.from must be milliseconds, a Date or ISO 8601 text, got "soon"');
  });
});

describe('options', () => {
  test('ranges name the offending value', () => {
    const offsetMinutes = -new Date(NOW).getTimezoneOffset() || 0;
    const defaults = { topK: 10, budgetTokens: 1_024, strategy: 'auto', profile: 'auto', filter: {}, epochMs: NOW, offsetMinutes };
    expect(readRetrieveOptions({}, NOW)).toEqual(defaults);
    expect(readRetrieveOptions({ strategy: 'mine' }, NOW, ['auto', 'mine'])).toEqual({ ...defaults, strategy: 'mine' });
    expect(() => readRetrieveOptions({ topK: 0 }, NOW)).toThrow('topK must be a whole number from 1 to 1000, got 0');
    expect(() => readRetrieveOptions({ topK: 2.5 }, NOW)).toThrow('got 2.5');
    expect(() => readRetrieveOptions({ strategy: 'magic' as 'auto' }, NOW)).toThrow('strategy must be one of auto, semantic, keyword, temporal, two_stage, got "magic"');
    expect(() => readRetrieveOptions({ filter: { tiers: ['deep' as 'mid'] } }, NOW)).toThrow('filter.tiers[0] must be one of short, mid, archive, got "deep"');
    expect(() => readQuery('  ')).toThrow(/empty/);
    expect(readQuery('\ud83d x')).toBe('\ufffd x');
  });

  test('case_26_a_question_is_asked_at_a_time_and_a_place', () => {
    const asked = (options: Parameters<typeof readRetrieveOptions>[0]) => readRetrieveOptions(options, NOW);
    expect(asked({ now: '2023-05-24T22:30:00-04:00' })).toMatchObject({ epochMs: 1_684_981_800_000, offsetMinutes: -240 });
    expect(asked({ asOf: '2023-05-24T22:30:00-04:00' })).toMatchObject({ asOfMs: 1_684_981_800_000, epochMs: 1_684_981_800_000, offsetMinutes: -240 });
    expect(asked({ asOf: 5, now: new Date(7) })).toMatchObject({ asOfMs: 5, epochMs: 7 });
    expect('asOfMs' in asked({ now: 7 })).toBe(false);
    for (const name of ['now', 'asOf']) expect(() => asked({ [name]: 'soon' })).toThrow(`${name} must be milliseconds`);
  });

  test('a filter is negated once and tests metadata', () => {
    const filter = (given: object) => readRetrieveOptions({ filter: given }, NOW).filter;
    expect(filter({ not: { roles: ['assistant'], from: 5 } })).toEqual({ not: [{ roles: ['assistant'], fromMs: 5 }] });
    expect(filter({ not: [{ sessions: ['a'] }, { tiers: ['mid'] }] })).toEqual({ not: [{ sessions: ['a'] }, { tiers: ['mid'] }] });
    const where = { tag: { in: ['a', null] }, n: { from: 1, to: 5 }, x: { exists: false } };
    expect(filter({ where, not: { where } })).toEqual({ where, not: [{ where }] });
    expect(() => filter({ not: 'x' })).toThrow('filter must be an object, got "x"');
    expect(() => filter({ not: { roles: ['nobody'] } })).toThrow('filter.roles[0] must be one of user, assistant, got "nobody"');
    expect(() => filter({ where: { x: { in: [() => 1] } } })).toThrow('filter.where.x.in[0] must be a JSON value');
  });

  test('case_34_an_id_is_data_or_a_typed_error', () => {
    for (const userId of ['a/b', '../..', 'a:b', ' ', "o'neill", '名前']) expect(readIdentity({ name: 'm', userId }).userId).toBe(userId);
    for (const userId of ['', 'x'.repeat(10_000), '\ud83d', 5, null]) {
      expect(() => readIdentity({ name: 'm', userId: userId as string })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    }
  });

  test('parameters that are not given are left to the core', () => {
    expect(readConfig({ shortTermCapacity: 7, similarityThreshold: undefined as never })).toEqual({ shortTermCapacity: 7 });
  });
});
