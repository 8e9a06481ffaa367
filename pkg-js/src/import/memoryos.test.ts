import { afterEach, describe, expect, test } from 'vitest';
import { ChannelWorker } from '../fixtures/channel-worker.js';
import { fakeCore } from '../fixtures/core.js';
import type { FakeCore } from '../fixtures/core.js';
import { serve } from '../engine/serve.js';
import { MemoryOS } from '../memory-os.js';
import { importMemoryOS } from './memoryos.js';

const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0)) await end();
});

async function opened(): Promise<{ core: FakeCore; memory: MemoryOS }> {
  const { port1, port2 } = new MessageChannel();
  const core = fakeCore();
  serve(port2, { load: async () => core, idle: () => undefined });
  const memory = await MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', storage: 'memory', worker: () => new ChannelWorker(port1) as unknown as Worker });
  close.push(async () => {
    await memory.close();
    port1.close();
  });
  return { core, memory };
}

const page = (day: number, text: string) => ({ user_input: text, agent_response: `${text}, noted`, timestamp: `2023-05-${day} 22:30:00` });

const SHORT_TERM = [page(26, 'third'), page(27, 'fourth')];
const MID_TERM = {
  sessions: {
    session_2: { id: 'session_2', summary: 'dogs', details: [{ ...page(25, 'second'), page_id: 'page_b', page_embedding: [0.1] }], H_segment: 2 },
    session_1: { id: 'session_1', summary: 'cats', details: [{ ...page(24, 'first'), page_id: 'page_a' }, { ...page(25, 'second'), page_id: 'page_b' }] },
  },
  access_frequency: { session_1: 1 },
};
const LONG_TERM = {
  user_profiles: { ines: { data: 'Ines likes dogs.', last_updated: '2023-05-27 10:00:00' } },
  knowledge_base: [{ knowledge: 'Has a dog called Rex', timestamp: '2023-05-24 22:31:00', knowledge_embedding: [0.2] }, { knowledge: '- Lives in Lisbon', timestamp: '' }, { knowledge: '- None', timestamp: '' }],
  assistant_knowledge: [{ knowledge: 'Recommended a walk', timestamp: '2023-05-24 22:31:00' }],
};
const ALL = { shortTerm: SHORT_TERM, midTerm: MID_TERM, longTerm: LONG_TERM };

describe('o18_data_of_memoryos', () => {
  test('o18_dialogues_go_in_by_time_knowledge_becomes_facts_and_the_profile_its_text', async () => {
    const { core, memory } = await opened();
    const progress: string[] = [];
    const result = await importMemoryOS(memory, ALL, { offsetMinutes: -240, onProgress: ({ done, total }) => progress.push(`${done}/${total}`) });
    expect(result).toEqual({ pages: { added: 4, duplicates: 0 }, facts: { added: 3, duplicates: 0 }, profiles: 1, skipped: [] });
    expect(core.added.map(({ userInput }) => userInput)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(core.added[0]).toMatchObject({ agentResponse: 'first, noted', epochMs: Date.parse('2023-05-24T22:30:00-04:00'), offsetMinutes: -240, metadata: { session: 'session_1', topic: 'cats' } });
    expect((await memory.facts()).map(({ subject, attribute, value }) => [subject, attribute, value])).toEqual([
      ['user', 'notes', 'Has a dog called Rex'], ['user', 'notes', 'Lives in Lisbon'], ['assistant', 'notes', 'Recommended a walk'],
    ]);
    expect((await memory.profile()).user?.text).toBe('Ines likes dogs.');
    expect(progress.at(-1)).toBe('8/8');
  });

  test('o18_importing_twice_or_file_by_file_stores_once', async () => {
    const { core, memory } = await opened();
    await importMemoryOS(memory, ALL);
    expect(await importMemoryOS(memory, JSON.stringify(ALL))).toEqual({ pages: { added: 0, duplicates: 4 }, facts: { added: 0, duplicates: 3 }, profiles: 0, skipped: [] });
    for (const file of [SHORT_TERM, MID_TERM, LONG_TERM, { longTerm: [LONG_TERM, LONG_TERM] }]) {
      expect(await importMemoryOS(memory, file)).toMatchObject({ pages: { added: 0 }, facts: { added: 0 }, profiles: 0, skipped: [] });
    }
    // A dialogue that has sunk since the last import is the same one.
    const sunk = { sessions: { s: { summary: 'x', details: [{ ...page(26, 'third'), page_id: 'page_c' }] } } };
    expect(await importMemoryOS(memory, sunk)).toMatchObject({ pages: { added: 0, duplicates: 1 } });
    expect(new Set(core.added.map(({ clientId }) => clientId)).size).toBe(4);
  });

  test('o18_times_without_a_zone_are_local_and_those_with_one_keep_it', async () => {
    const { core, memory } = await opened();
    const stamps = ['2023-05-24 22:30:00', '2023-05-24T22:30:00+05:30', '2023-05-24 22:30:00Z'];
    await importMemoryOS(memory, stamps.map((timestamp, at) => ({ user_input: `${at}`, agent_response: '', timestamp })));
    const when = (text: string) => core.added.find(({ userInput }) => userInput === text)?.epochMs;
    expect([when('0'), when('1'), when('2')]).toEqual([new Date('2023-05-24T22:30:00').getTime(), Date.parse('2023-05-24T22:30:00+05:30'), Date.parse('2023-05-24T22:30:00Z')]);
    await importMemoryOS(memory, [{ user_input: 'no time', agent_response: '' }, { user_input: 'no date', agent_response: '', timestamp: 'one fine day' }]);
    expect([when('no time'), when('no date')]).toEqual([null, null]);
  });

  test('o18_what_cannot_be_read_is_skipped_by_its_place_and_the_rest_goes_in', async () => {
    const { memory } = await opened();
    const broken = {
      shortTerm: [page(24, 'good'), 7, { user_input: 5, agent_response: '' }, { user_input: '', agent_response: '' }],
      midTerm: { sessions: { s1: null, s2: { summary: 'x' } } },
      longTerm: { knowledge_base: [{ knowledge: 9 }, { knowledge: 'ok' }], assistant_knowledge: 'none', user_profiles: { a: { data: 'A' }, b: { data: 'B' } } },
    };
    const { skipped, ...counts } = await importMemoryOS(memory, broken, { user: 'b' });
    expect(counts).toEqual({ pages: { added: 1, duplicates: 0 }, facts: { added: 1, duplicates: 0 }, profiles: 1 });
    expect(skipped.map(({ place }) => place).sort()).toEqual([
      'longTerm.assistant_knowledge', 'longTerm.knowledge_base[0]', 'longTerm.user_profiles.a', 'midTerm.sessions.s1', 'midTerm.sessions.s2.details',
      'shortTerm[1]', 'shortTerm[2]', 'shortTerm[3]',
    ]);
    expect(skipped.find(({ place }) => place === 'shortTerm[2]')?.reason).toContain('got 5');
    for (const json of [5, null, {}, 'no json']) await expect(importMemoryOS(memory, json)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(importMemoryOS(memory, [], { offsetMinutes: 0.5 })).rejects.toThrow('got 0.5');
  });

  test('case_17_an_import_stops_where_it_is_told_to_and_goes_on_from_there', async () => {
    const { core, memory } = await opened();
    const controller = new AbortController();
    const stopping = importMemoryOS(memory, ALL, { signal: controller.signal, onProgress: ({ done }) => done === 5 && controller.abort() });
    await expect(stopping).rejects.toMatchObject({ code: 'ABORTED' });
    expect([core.added.length, (await memory.facts()).length]).toEqual([4, 1]);
    expect(await importMemoryOS(memory, ALL)).toMatchObject({ pages: { added: 0, duplicates: 4 }, facts: { added: 2, duplicates: 1 }, profiles: 1 });
    await expect(importMemoryOS(memory, ALL, { signal: controller.signal })).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
