import { describe, expect, test } from 'vitest';
import { momentOf, readConversations, readFile, UNKNOWN_TIME, UnreadableFile } from '../src/data/conversation';

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const first = (json: unknown) => readConversations(json, 'file')[0]!;

const turn = (role: string, text: string, more: object = {}) => ({ role, speaker: role === 'user' ? 'Ann' : 'Bo', text, time: '2023-05-08T13:56:00', session: 1, ...more });

describe('pairing', () => {
  test('consecutive turns of user and assistant become one page, with names and session', () => {
    const { pages, speakers, sessions } = first({ turns: [turn('user', 'a'), turn('assistant', 'b')] });
    expect(pages).toEqual([{ id: expect.any(String), userInput: 'a', agentResponse: 'b', timestamp: '2023-05-08T13:56:00', session: '1', userName: 'Ann', agentName: 'Bo' }]);
    expect(speakers).toEqual(['Ann', 'Bo']);
    expect(sessions).toBe(1);
  });

  test('a lone turn keeps an empty other side, and no turn is lost', () => {
    const { pages } = first({ turns: [turn('assistant', 'hello'), turn('user', 'a'), turn('user', 'b'), turn('assistant', 'c'), turn('user', 'd')] });
    expect(pages.map((page) => [page.userInput, page.agentResponse])).toEqual([['', 'hello'], ['a', ''], ['b', 'c'], ['d', '']]);
  });

  test('an answer of another session is not paired', () => {
    const { pages } = first({ turns: [turn('user', 'a'), turn('assistant', 'b', { session: 2 })] });
    expect(pages.map((page) => page.session)).toEqual(['1', '2']);
  });

  test('without roles the first speaker takes the side of the user', () => {
    const { pages } = first([{ speaker: 'Lee', text: 'a' }, { speaker: 'Kim', text: 'b' }, { speaker: 'Lee', text: 'c' }]);
    expect(pages.map((page) => [page.userInput, page.agentResponse])).toEqual([['a', 'b'], ['c', '']]);
  });
});

describe('shapes', () => {
  test('a list of pairs', () => {
    const { pages } = first([{ user_input: 'a', agent_response: 'b', timestamp: '2023-05-08 13:56:00' }, { userInput: 'c', agentResponse: '' }]);
    expect(pages.map((page) => [page.userInput, page.agentResponse, page.timestamp])).toEqual([['a', 'b', '2023-05-08 13:56:00'], ['c', '', UNKNOWN_TIME]]);
  });

  test('several conversations, each with its own name and ids', () => {
    const list = readConversations({ conversations: [{ id: 'one', turns: [turn('user', 'a', { id: 'D1' })] }, { id: 'two', turns: [turn('user', 'a', { id: 'D1' })] }] }, 'file');
    expect(list.map((conversation) => conversation.name)).toEqual(['one', 'two']);
    expect(list.map((conversation) => conversation.pages[0]?.id)).toEqual(['one/D1', 'two/D1']);
  });

  test('messages with content, plain and in parts', () => {
    const parts = [{ type: 'text', text: 'look' }, { type: 'image', url: 'x' }];
    const { pages } = first({ messages: [{ role: 'user', content: parts }, { role: 'assistant', content: 'nice' }] });
    expect(pages[0]).toMatchObject({ userInput: parts, agentResponse: 'nice' });
  });

  test('what is not JSON text is left to the package', () => {
    expect(readFile(new Uint8Array([0x4d, 0x53, 0x00, 0x01]), 'x')).toEqual({ kind: 'export' });
  });

  test.each([
    ['', 'empty'],
    [' \n', 'empty'],
    ['hello', 'not-json'],
    ['{"turns": [', 'not-json'],
    ['{}', 'no-turns'],
    ['[]', 'no-turns'],
    ['{"turns": [{"text": ""}]}', 'no-turns'],
  ] as const)('%j cannot be imported: %s', (text, reason) => {
    expect(() => readFile(bytes(text), 'x.json')).toThrow(expect.objectContaining({ reason }) as UnreadableFile);
  });
});

describe('the dry run', () => {
  test('tells every entry that is left out or changed', () => {
    const { problems, entries, from, to } = first({ turns: [turn('user', 'a'), null, turn('assistant', ' '), turn('user', 'b', { time: 'last Tuesday' }), turn('user', 'c', { time: null })] });
    expect(entries).toBe(5);
    expect(problems).toEqual([
      { index: 1, kind: 'not-an-object' },
      { index: 2, kind: 'no-text' },
      { index: 3, kind: 'bad-time' },
      { index: 4, kind: 'no-time' },
    ]);
    expect(from).toBe(to);
    expect(from).toBe(new Date('2023-05-08T13:56:00').getTime());
  });

  test('a date without a time is the reader’s own day', () => {
    expect(momentOf('2023-04-27')).toBe(new Date(2023, 3, 27).getTime());
    expect(first({ turns: [turn('user', 'a', { time: '2023-04-27' })] }).pages[0]?.timestamp).toBe('2023-04-27T00:00:00');
  });

  test('seconds and milliseconds since the epoch', () => {
    const times = [1_700_000_000, 1_700_000_000_000].map((time) => first({ turns: [turn('user', 'a', { time })] }).pages[0]?.timestamp);
    expect(times).toEqual([1_700_000_000_000, 1_700_000_000_000]);
  });
});

test('the same file gives the same ids, and no two pages share one', () => {
  const json = { turns: [turn('user', 'a'), turn('user', 'a'), turn('user', 'b', { id: 'x' }), turn('user', 'c', { id: 'x' })] };
  const ids = first(json).pages.map((page) => page.id);
  expect(new Set(ids).size).toBe(4);
  expect(first(json).pages.map((page) => page.id)).toEqual(ids);
});

test('case_20_keys_of_the_prototype_are_dropped_and_such_texts_are_kept', () => {
  const json: unknown = JSON.parse('[{"user_input": "constructor", "agent_response": "__proto__", "metadata": {"__proto__": {"bad": 1}, "constructor": 2, "kept": {"prototype": 3, "deep": 4}}}]');
  const page = first(json).pages[0]!;
  expect(page).toMatchObject({ userInput: 'constructor', agentResponse: '__proto__' });
  expect(page.metadata).toEqual({ kept: { deep: 4 } });
  expect(({} as { bad?: number }).bad).toBeUndefined();
});

test('questions of an evaluation set are offered', () => {
  expect(first({ turns: [turn('user', 'a')], questions: ['one?', { question: 'two?' }, { query: 'three?' }, { id: 4 }] }).questions).toEqual(['one?', 'two?', 'three?']);
});
