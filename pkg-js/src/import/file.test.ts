import { afterEach, describe, expect, test } from 'vitest';
import { exportJsonl, exportMarkdown } from '../export/index.js';
import { MemoryOS } from '../memory-os.js';
import type { FormatName } from './detect.js';
import { importFile, ORIGIN_KEY, SOURCE_KEY } from './index.js';

const open: MemoryOS[] = [];
afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close();
});

let serial = 0;
async function opened(): Promise<MemoryOS> {
  const memory = await MemoryOS.open({ name: `import-${++serial}`, userId: 'ines', embedder: 'none', storage: 'memory', paused: true });
  open.push(memory);
  return memory;
}

/** Pages in the order of their arrival, and facts, as far as an import decides them. */
async function held(memory: MemoryOS) {
  const pages = (await memory.pages({ limit: 10_000 })).reverse();
  return {
    pages: pages.map(({ userInput, agentResponse, time, session }) => [userInput, agentResponse, time === null ? null : new Date(time).toISOString(), session]),
    facts: (await memory.facts()).map(({ subject, subjectName, attribute, value }) => [subjectName ?? subject, attribute, value]),
    metadata: pages.map(({ metadata }) => metadata),
  };
}

/** A message of ChatGPT's tree. */
const node = (id: string, parent: string | null, children: string[], role: string, text: unknown, extra: object = {}) => ({
  id, parent, children,
  message: { id, author: { role, name: null }, create_time: 1_700_000_000 + Number(id.slice(1)), content: { content_type: 'text', parts: [text] }, weight: 1, recipient: 'all', metadata: {}, ...extra },
});

const CHATGPT = [
  {
    title: 'Later', conversation_id: 'c2', create_time: 1_700_001_000, current_node: 'm90', mapping: {
      m89: { id: 'm89', parent: null, children: ['m90'], message: null }, m90: node('m90', 'm89', [], 'user', 'A question without an answer'),
    },
  },
  {
    title: 'Dogs', conversation_id: 'c1', create_time: 1_700_000_000, current_node: 'm7', mapping: {
      m0: { id: 'm0', parent: null, children: ['m1'], message: null },
      m1: node('m1', 'm0', ['m2'], 'system', 'You are a helpful assistant.'),
      m2: node('m2', 'm1', ['m3', 'm4'], 'user', 'My dog is called Rex.'),
      m3: node('m3', 'm2', [], 'assistant', 'An answer that was regenerated.'),
      m4: node('m4', 'm2', ['m5'], 'assistant', 'search("Rex")', { recipient: 'browser' }),
      m5: node('m5', 'm4', ['m6'], 'tool', 'a page of the web'),
      m6: node('m6', 'm5', ['m7'], 'user', 'what the user did not see', { metadata: { is_visually_hidden_from_conversation: true } }),
      m7: node('m7', 'm6', [], 'assistant', 'A fine name.', {
        content: { content_type: 'multimodal_text', parts: ['A fine name.', { content_type: 'image_asset_pointer', asset_pointer: 'file-service://f1' }] },
      }),
    },
  },
];

const CLAUDE = [{
  uuid: 'u1', name: 'Lisbon', created_at: '2026-02-03T20:00:00.000000Z', chat_messages: [
    { uuid: 'm1', sender: 'human', created_at: '2026-02-03T20:15:00.123456Z', text: 'old', content: [{ type: 'text', text: 'I moved to Lisbon.' }], attachments: [], files: [{ file_name: 'map.png' }] },
    { uuid: 'm2', sender: 'assistant', created_at: '2026-02-03T20:15:05Z', text: '', content: [{ type: 'thinking', thinking: 'hm' }, { type: 'tool_use', name: 'search' }, { type: 'text', text: 'Congratulations!' }] },
    { uuid: 'm3', sender: 'human', created_at: '2026-02-03T20:16:00Z', text: 'Thanks.' },
    { sender: 'nobody' },
  ],
}];

const MEM0 = { results: [
  { id: '1', memory: 'Likes tea', user_id: 'ines', hash: 'h', metadata: null, created_at: '2025-07-01T10:00:00-07:00', updated_at: null },
  { id: '2', memory: '' }, { id: '3', memory: 'Has a dog', created_at: 'one fine day' },
], relations: [{ source: 'ines', relationship: 'lives_in', target: 'lisbon' }] };

const MEMOS_TREE = { nodes: [
  { id: 'a', memory: 'Plans a trip to Porto', metadata: { memory_type: 'UserMemory', status: 'activated', type: 'event', memory_time: '2025-11-02', tags: ['travel'], embedding: [0.1] } },
  { id: 'b', memory: 'Gone', metadata: { memory_type: 'LongTermMemory', status: 'deleted' } },
], edges: [{ source: 'a', target: 'b', type: 'PARENT' }] };

const MCP_LINES = [
  { type: 'entity', name: 'default_user', entityType: 'person', observations: ['Speaks Portuguese'] },
  { type: 'entity', name: 'Acme', entityType: 'company', observations: ['Makes anvils', 7] },
  { type: 'relation', from: 'default_user', to: 'Acme', relationType: 'works_at' },
].map((line) => JSON.stringify(line)).join('\n');

const MEMORYOS = { user_profiles: { ines: { data: 'Ines likes dogs.' } }, knowledge_base: [{ knowledge: 'Has a dog' }], assistant_knowledge: [] };

const GENERIC_LINES = ['{"role":"system","content":"x"}', '{"role":"user","content":"Hello","timestamp":1700000000}', '{"role":"assistant","content":[{"type":"text","text":"Hi"}]}', '', 'no json', '{"role":"user","content":"Bye"}'].join('\r\n');

interface Expected { pages?: unknown[][]; facts?: unknown[][]; skipped?: string[]; leftOut?: Record<string, number>; profiles?: number }

const FILES: [FormatName, string, Expected][] = [
  ['chatgpt', JSON.stringify(CHATGPT), {
    pages: [['My dog is called Rex.', 'A fine name.', '2023-11-14T22:13:22.000Z', 'c1'], ['A question without an answer', '', '2023-11-14T22:14:50.000Z', 'c2']],
    leftOut: { 'of the role system': 1, 'to a tool': 1, 'of the role tool': 1, hidden: 1 },
  }],
  ['claude', JSON.stringify(CLAUDE, null, 2), {
    pages: [['I moved to Lisbon.', 'Congratulations!', '2026-02-03T20:15:00.123Z', 'u1'], ['Thanks.', '', '2026-02-03T20:16:00.000Z', 'u1']],
    skipped: ['[0].chat_messages[3]'],
  }],
  ['mem0', JSON.stringify(MEM0), { facts: [['user', 'notes', 'Likes tea'], ['user', 'notes', 'Has a dog'], ['ines', 'relations', 'lives in lisbon']], skipped: ['results[1]'] }],
  ['memos', JSON.stringify(MEMOS_TREE), { facts: [['user', 'notes', 'Plans a trip to Porto']], leftOut: { deleted: 1 } }],
  ['memos', JSON.stringify(MEMOS_TREE.nodes), { facts: [['user', 'notes', 'Plans a trip to Porto']], leftOut: { deleted: 1 } }],
  ['mcp-memory', MCP_LINES, {
    facts: [['user', 'notes', 'Speaks Portuguese'], ['Acme', 'types', 'company'], ['Acme', 'notes', 'Makes anvils'], ['user', 'relations', 'works at Acme']], skipped: ['line 2.observations[1]'],
  }],
  ['memoryos', JSON.stringify(MEMORYOS), { facts: [['user', 'notes', 'Has a dog']], profiles: 1 }],
  ['memoryos', JSON.stringify([{ user_input: 'a', agent_response: 'b', timestamp: '2023-05-24 22:30:00Z' }]), { pages: [['a', 'b', '2023-05-24T22:30:00.000Z', expect.any(String)]] }],
  ['generic', GENERIC_LINES, {
    pages: [['Bye', '', null, expect.any(String)], ['Hello', 'Hi', '2023-11-14T22:13:20.000Z', expect.any(String)]], skipped: ['line 5'], leftOut: { 'of the role system': 1 },
  }],
  ['generic', JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }, { role: 'nobody' }], id: 's1', title: 'T' }), { pages: [['Hello', '', null, 's1']], skipped: ['messages[1]'] }],
  ['generic', JSON.stringify([{ question: 'Why?', answer: 'Because.', date: '2024-01-02T03:04:05Z' }, { colour: 'red' }]), { pages: [['Why?', 'Because.', '2024-01-02T03:04:05.000Z', expect.any(String)]], skipped: ['[1]'] }],
];

describe.each(FILES)('b13_%s %#', (format, file, { pages = [], facts = [], skipped = [], leftOut = {}, profiles = 0 }) => {
  test('b13_is_recognised_read_in_order_of_time_marked_and_stored_once', async () => {
    const memory = await opened();
    const expected = { format, pages: { added: pages.length, duplicates: 0 }, facts: { added: facts.length, duplicates: 0 }, profiles, leftOut };
    const dry = await importFile(memory, file, { dryRun: true });
    expect(dry).toMatchObject({ ...expected, dryRun: true });
    expect(await held(memory)).toMatchObject({ pages: [], facts: [] });

    const progress: number[] = [];
    const result = await importFile(memory, file, { onProgress: ({ done, total }) => progress.push(done / total) });
    expect(result).toMatchObject(expected);
    expect(result).toEqual({ ...dry, dryRun: false });
    expect(result.skipped.map(({ place }) => place)).toEqual(skipped);
    expect(progress.at(-1)).toBe(1);
    const found = await held(memory);
    expect(found.pages).toEqual(pages);
    expect(found.facts).toEqual(expect.arrayContaining(facts));
    expect(found.facts).toHaveLength(facts.length);
    for (const metadata of found.metadata) expect(metadata).toMatchObject({ [ORIGIN_KEY]: 'import', [SOURCE_KEY]: format });

    const again = { pages: { added: 0, duplicates: pages.length }, facts: { added: 0, duplicates: facts.length }, profiles: 0 };
    expect(await importFile(memory, file, { dryRun: true })).toMatchObject(again);
    expect(await importFile(memory, file)).toMatchObject(again);
  });

  test('b13_is_read_the_same_when_it_comes_in_pieces', async () => {
    const memory = await opened();
    const bytes = new TextEncoder().encode(file);
    for (const size of [1, 7, 1_000]) {
      let at = 0;
      const stream = new ReadableStream<Uint8Array>({ pull: (controller) => (at < bytes.length ? controller.enqueue(bytes.slice(at, (at += size))) : controller.close()) });
      expect(await importFile(memory, stream, { dryRun: true })).toEqual(await importFile(memory, new Blob([bytes]), { dryRun: true }));
    }
  });

  test('b13_cut_off_anywhere_it_gives_what_is_whole_or_says_that_it_is_no_such_file', async () => {
    const memory = await opened();
    for (let end = 0; end < file.length; end += Math.ceil(file.length / 60)) {
      const result = await importFile(memory, file.slice(0, end), { dryRun: true }).catch((error: unknown) => error);
      if (result instanceof Error) expect(result).toMatchObject({ code: 'INVALID_ARGUMENT' });
      else expect((result as { pages: { added: number } }).pages.added).toBeLessThanOrEqual(pages.length);
    }
  });
});

test('b13_pictures_and_files_are_kept_as_references', async () => {
  const memory = await opened();
  await importFile(memory, JSON.stringify(CHATGPT));
  await importFile(memory, JSON.stringify(CLAUDE));
  const { metadata } = await held(memory);
  expect(metadata).toContainEqual(expect.objectContaining({ title: 'Dogs', attachments: [expect.objectContaining({ side: 'agent', asset_pointer: 'file-service://f1' })] }));
  expect(metadata).toContainEqual(expect.objectContaining({ title: 'Lisbon', attachments: [{ side: 'user', type: 'file', name: 'map.png' }] }));
});

test('b13_a_tree_that_runs_in_a_circle_or_names_no_last_message_is_read', async () => {
  const memory = await opened();
  const [, dogs] = CHATGPT;
  const circle = { ...dogs, mapping: { m2: node('m2', 'm7', ['m7'], 'user', 'Round'), m7: node('m7', 'm2', ['m2'], 'assistant', 'and round') } };
  const lost = { title: 'Lost', id: 'c3', mapping: { m1: node('m1', null, ['m2', 'm3'], 'user', 'Which?'), m2: node('m2', 'm1', [], 'assistant', 'first'), m3: node('m3', 'm1', [], 'assistant', 'latest') } };
  expect(await importFile(memory, JSON.stringify([circle, lost]))).toMatchObject({ pages: { added: 2 } });
  expect((await held(memory)).pages.map(([user, agent]) => [user, agent])).toEqual([['Which?', 'latest'], ['Round', 'and round']]);
});

test('b13_limits_are_kept', async () => {
  const memory = await opened();
  const lines = Array.from({ length: 10 }, (_, at) => JSON.stringify({ question: `${at}`, answer: 'x'.repeat(at === 3 ? 500 : 5) })).join('\n');
  await expect(importFile(memory, lines, { limits: { bytes: 100 } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('limits.bytes') });
  await expect(importFile(memory, lines, { limits: { entries: 5 } })).rejects.toThrow('limits.entries');
  expect(await importFile(memory, lines, { dryRun: true, limits: { entryChars: 100 } })).toMatchObject({ pages: { added: 9 }, skipped: [{ place: 'line 4', reason: expect.stringContaining('limits.entryChars') }] });
  expect(await importFile(memory, lines, { dryRun: true, limits: { recordChars: 100 } })).toMatchObject({ pages: { added: 9 }, skipped: [{ place: 'line 4', reason: expect.stringContaining('limits.recordChars') }] });
  expect(await importFile(memory, `[${lines.replaceAll('\n', ',')}]`, { dryRun: true, limits: { recordChars: 100 } })).toMatchObject({ pages: { added: 9 }, skipped: [{ place: '[3]' }] });
  await expect(importFile(memory, JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(200) }] }), { limits: { recordChars: 100 } })).rejects.toThrow('limits.recordChars');
  await expect(importFile(memory, lines, { limits: { bytes: 0.5 } })).rejects.toThrow('got 0.5');
  await expect(importFile(memory, lines, { limits: { colour: 1 } as object })).rejects.toThrow('"colour"');
});

test('b13_what_is_of_no_known_format_is_said_and_nothing_is_stored', async () => {
  const memory = await opened();
  for (const file of ['', '   ', 'no json', '[]', '{}', '[1, 2]', '{"colour":"red"}', '"text"', '\uFEFF']) {
    await expect(importFile(memory, file), file).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  }
  await expect(importFile(memory, 7 as never)).rejects.toThrow('got 7');
  await expect(importFile(memory, '[]', { format: 'diary' as never })).rejects.toThrow('"diary"');
  // With its format named, an empty list is an empty file, and a wrong one is reported entry by entry.
  expect(await importFile(memory, '[]', { format: 'chatgpt' })).toMatchObject({ pages: { added: 0 }, skippedCount: 0 });
  expect(await importFile(memory, JSON.stringify(CLAUDE), { format: 'chatgpt' })).toMatchObject({ pages: { added: 0 }, skippedCount: 1 });
});

test('case_17_an_import_that_is_stopped_goes_on_from_there', async () => {
  const memory = await opened();
  const turns = JSON.stringify(Array.from({ length: 100 }, (_, at) => ({ question: `number ${at}` })));
  const controller = new AbortController();
  await expect(importFile(memory, turns, { signal: controller.signal, onProgress: () => controller.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
  const stored = (await held(memory)).pages.length;
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(100);
  expect(await importFile(memory, turns)).toMatchObject({ pages: { added: 100 - stored, duplicates: stored } });
});

describe('b13_there_and_back', () => {
  const FIELDS = ({ clientId, userInput, agentResponse, userName, agentName, time, offsetMinutes, session, metadata, neverRecall }: Awaited<ReturnType<MemoryOS['pages']>>[0], ids: boolean) => ({
    ...(ids ? { clientId } : {}), userInput, agentResponse, userName, agentName, time, offsetMinutes, session, neverRecall,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith('memstrata:'))),
  });

  async function filled(): Promise<MemoryOS> {
    const memory = await opened();
    await memory.addMany([
      { id: 'one', userInput: 'My dog is called Rex.\n# no heading', agentResponse: '<script>alert(1)</script> ![x](http://tracker.example/p.png)', timestamp: '2026-02-03T20:15:00.250+01:00', session: 's1', metadata: { topic: 'dogs', deep: { list: [1, null] } }, userName: 'Ines', agentName: 'Bo' },
      { userInput: '名前', agentResponse: '', timestamp: '2025-01-01' },
    ]);
    await memory.importConversation([{ userInput: 'no date', agentResponse: '' }]);
    const [dog] = await memory.pages({ offset: 2, limit: 1 });
    await memory.neverRecall(dog?.id as string);
    const { id } = await memory.addFact({ attribute: 'home city', value: 'Porto', validFrom: '2020-01-01' });
    await memory.addFact({ attribute: 'home city', value: 'Lisbon', validFrom: '2026-02-03' });
    await memory.addFact({ subject: 'other', subjectName: 'Acme', attribute: 'notes', value: 'Makes *anvils*', validFrom: '2026-02-04' });
    expect((await memory.facts({ closed: true })).find((fact) => fact.id === id)?.validTo).not.toBeNull();
    await memory.pinFact((await memory.facts()).find(({ value }) => value === 'Lisbon')?.id as string);
    await memory.setProfile('user', 'Ines likes dogs.');
    return memory;
  }

  test('b13_lines_imported_into_an_empty_memory_give_the_same_pages_facts_and_profile', async () => {
    const [memory, other] = [await filled(), await opened()];
    const file = await new Response(exportJsonl(memory) as ReadableStream<Uint8Array<ArrayBuffer>>).text();
    expect(await importFile(other, file)).toMatchObject({
      format: 'memstrata', pages: { added: 3, duplicates: 0 }, facts: { added: 2, duplicates: 0 }, profiles: 1, skippedCount: 0, leftOut: { 'no longer believed': 1 },
    });
    const pagesOf = async (of: MemoryOS, ids: boolean) => (await of.pages()).map((page) => FIELDS(page, ids && page.clientId === 'one')).sort((a, b) => (a.userInput < b.userInput ? -1 : 1));
    expect(await pagesOf(other, true)).toEqual(await pagesOf(memory, true));
    const factsOf = async (of: MemoryOS) => (await of.facts()).map(({ subject, subjectName, attribute, value, kind, validFrom, pinned }) => ({ subject, subjectName, attribute, value, kind, validFrom, pinned }));
    expect(await factsOf(other)).toEqual(await factsOf(memory));
    expect((await other.profile()).user?.text).toBe('Ines likes dogs.');
    // And once more there, and back to where it came from: nothing is doubled.
    const second = await new Response(exportJsonl(other) as ReadableStream<Uint8Array<ArrayBuffer>>).text();
    for (const of of [other, memory]) expect(await importFile(of, of === other ? second : file)).toMatchObject({ pages: { added: 0, duplicates: 3 }, facts: { added: 0 }, profiles: 0 });
    expect(second.split('\n').filter((line) => line.includes('"page"')).map((line) => JSON.parse(line).metadata[SOURCE_KEY])).toEqual(['memstrata', 'memstrata', 'memstrata']);
  });

  test('b13_a_file_of_a_newer_format_is_not_half_read', async () => {
    const memory = await opened();
    const result = await importFile(memory, '{"type":"memstrata","version":2}\n{"type":"page","userInput":"x","agentResponse":""}\n');
    expect(result.skipped).toEqual([{ place: 'line 1', reason: expect.stringContaining('format 2') }]);
  });

  test('b13_markdown_is_in_order_of_time_has_evidence_and_nothing_in_it_acts', async () => {
    const memory = await filled();
    const text = await new Response(exportMarkdown(memory) as ReadableStream<Uint8Array<ArrayBuffer>>).text();
    expect(text).toBe(`# Memory

## The user

> Ines likes dogs.

## Facts

- **home city**: Porto (since 2020-01-01; until 2026-02-03; edited)
- **home city**: Lisbon (since 2026-02-03; edited; pinned)
- **Acme, notes**: Makes \\*anvils\\* (since 2026-02-04; edited)

## Conversations
${text.slice(text.indexOf('## Conversations\n') + 17)}`);
    const order = ['no date', '名前', 'My dog is called Rex.'].map((said) => text.indexOf(said));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(text).toContain('### 2026-02-03, s1\n\n**Ines** 20:15\n\n> My dog is called Rex.\n> \\# no heading\n\n**Bo** 20:15\n\n> \\<script\\>alert(1)\\</script\\> !\\[x\\](http://tracker.example/p.png)\n');
  });

  test('b13_markdown_shows_which_words_bear_a_fact_out', async () => {
    const memory = await filled();
    const [page] = await memory.pages({ offset: 0, limit: 1 });
    const [fact] = await memory.facts();
    const evidence = [{ pageId: page?.id as string, role: 'user' as const, quote: 'My dog\nis *Rex*' }, { pageId: 'gone', role: 'assistant' as const, quote: 'Indeed' }];
    const source = { pages: memory.pages.bind(memory), profile: memory.profile.bind(memory), facts: async () => [{ ...fact!, evidence }] };
    const text = await new Response(exportMarkdown(source) as ReadableStream<Uint8Array<ArrayBuffer>>).text();
    expect(text).toMatch(/\n- \*\*home city\*\*: Lisbon \(.*\)\n {2}- user(, \d{4}-\d\d-\d\d)?: “My dog is \\\*Rex\\\*”\n {2}- assistant: “Indeed”\n/);
  });

  test('b13_an_export_stops_when_it_is_told_to', async () => {
    const memory = await filled();
    const controller = new AbortController();
    const reader = exportJsonl(memory, { signal: controller.signal }).getReader();
    await reader.read();
    controller.abort();
    await expect((async () => { while (!(await reader.read()).done); })()).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
