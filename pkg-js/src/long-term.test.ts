/** Long-term memory on the real core, in Node. `npm run build` makes the wasm file that this needs. */
import { afterEach, describe, expect, test } from 'vitest';
import { importMemoryOS } from './import/index.js';
import { MemoryOS } from './index.js';
import { scriptedChat } from './providers/scripted.js';
import type { ScriptedChat, ScriptedReply } from './providers/scripted.js';
import type { ChatRequest } from './providers/types.js';
import type { OpenOptions } from './types.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const open: MemoryOS[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((memory) => memory.close()));
});

async function opened(options: Partial<OpenOptions> = {}): Promise<MemoryOS> {
  const memory = await MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', now: () => NOW, seed: 7, ...options });
  open.push(memory);
  return memory;
}

/** Files a batch as one topic, and learns the dog's name where it is told. */
function fileBatch(request: ChatRequest): string {
  const prompt = request.messages.at(-1)?.content ?? '';
  // Page p0 is shown for context alone.
  const pages = [...prompt.matchAll(/^\[(p[1-9]\d*)\].*\n((?:(?!\[p\d).*\n)*)/gm)].map(([, id, text]) => ({ id: id ?? '', text: text ?? '' }));
  const told = pages.find(({ text }) => text.includes('My dog is called Rex.'));
  return JSON.stringify({
    reasoning: 'One topic.',
    segments: [{ continues: null, title: 'A dog', summary: 'The user has a dog called Rex.', keywords: ['dog', 'Rex'], pages: pages.map(({ id }) => id) }],
    links: pages.map(({ id }) => ({ page: id, continues: null, meta_info: 'About the dog.' })),
    facts: told
      ? [{ subject: 'user', attribute: 'name of the dog', value: 'Rex', kind: 'knowledge', confidence: 0.95, valid_from: null, quote: 'My dog is called Rex.', page: told.id }]
      : [],
  });
}

const PROFILE = JSON.stringify({ reasoning: 'A dog.', profile: 'The user has a dog called Rex.', traits: [] });

/** A model that answers each step of memory work in its form, and everything else in a sentence. */
function model(more: (request: ChatRequest) => ScriptedReply | undefined = () => undefined): ScriptedChat {
  return scriptedChat((request) => {
    const reply = more(request);
    if (reply !== undefined) return reply;
    const step = request.responseSchema?.name;
    return step === 'memory_batch' ? fileBatch(request) : step === 'user_profile' ? PROFILE : 'Your dog is called Rex.';
  });
}

const TURNS = [
  { userInput: 'My dog is called Rex.', agentResponse: 'A fine name.', id: 'dog' },
  { userInput: 'He likes the river.', agentResponse: 'Dogs do.' },
  { userInput: 'It rains today.', agentResponse: 'Take a coat.' },
];
const SMALL = { shortTermCapacity: 1, consolidationBatch: 5 };

async function withDog(chat = model()): Promise<MemoryOS> {
  const memory = await opened({ chat, config: SMALL });
  await memory.addMany(TURNS);
  await memory.flush();
  await memory.analyse();
  return memory;
}

describe('what a model learns', () => {
  test('is a fact with the words that prove it, and the cause of the change', async () => {
    const memory = await withDog();
    const [fact, ...others] = await memory.facts();
    expect(others).toEqual([]);
    expect(fact).toMatchObject({ subject: 'user', value: 'Rex', validTo: null, evidence: [{ role: 'user', quote: 'My dog is called Rex.' }] });
    const [change] = await memory.history(fact?.id ?? '');
    expect(change).toMatchObject({ cause: { by: 'analysis', model: 'scripted/script' }, undoable: true });
    expect((await memory.profile()).user?.text).toBe('The user has a dog called Rex.');
    expect(await memory.stats()).toMatchObject({ facts: { open: 1, closed: 0 } });
  });

  test('is recalled, and part of the prompt', async () => {
    const memory = await withDog();
    expect((await memory.retrieve('What is my dog called?')).facts[0]).toMatchObject({ value: 'Rex', packed: true });
    const before = await memory.stats();
    const { system, messages, context } = await memory.merge('What is my dog called?', { style: 'brief', relationship: 'tutor' });
    expect(messages[0]).toEqual({ role: 'system', content: system });
    expect(messages.at(-1)?.content).toContain('What is my dog called?');
    expect([context.includes('Rex'), system.includes('brief'), system.includes('tutor')]).toEqual([true, true, true]);
    expect(await memory.stats()).toMatchObject({ pages: before.pages });
  });

  test('goes with the page that it rests on', async () => {
    const memory = await withDog();
    const page = (await memory.pages()).find(({ clientId }) => clientId === 'dog');
    const { pages, facts, profilesRemoved } = await memory.forget(page?.id ?? '');
    expect([pages, facts.length, profilesRemoved]).toEqual([[page?.id], 1, true]);
    expect(await memory.facts({ closed: true })).toEqual([]);
    expect(JSON.stringify([await memory.history(), await memory.profile(), await memory.tiers()])).not.toContain('Rex');
  });

  test('o19_waits_while_the_memory_is_paused_and_costs_what_the_ledger_says', async () => {
    const chat = model();
    const memory = await opened({ chat, config: { ...SMALL, consolidationBatch: 1 } });
    await memory.pause();
    expect(await memory.ledger()).toMatchObject({ paused: true, today: { calls: 0, callsLimit: 0 } });
    await memory.addMany(TURNS);
    expect((await memory.jobs())[0]).toMatchObject({ waitsFor: 'pause' });
    expect(chat.calls).toEqual([]);
    await memory.resume();
    await memory.flush();
    const { today, days, paused } = await memory.ledger();
    expect([paused, today.calls, days[0]?.rows.some(({ operation }) => operation === 'segments')]).toEqual([false, chat.calls.length, true]);
  });

  test.each(['tool_call', 'plain'] as const)('case_43_the_mode_that_a_model_fell_back_to_is_asked_for_next_%s', async (outputMode) => {
    const chat = model((request) => (request.responseSchema?.name === 'memory_batch' ? { text: fileBatch(request), outputMode } : undefined));
    const memory = await opened({ chat, config: SMALL });
    for (const turn of TURNS) await memory.addMemory(turn);
    await memory.flush();
    await memory.addMany(TURNS.map(({ userInput }) => ({ userInput, agentResponse: 'Again.' })));
    await memory.flush();
    const asked = chat.calls.filter(({ responseSchema }) => responseSchema).map(({ outputMode }) => outputMode);
    expect([asked[0], asked.at(-1)]).toEqual(['json_schema', outputMode]);
  });
});

describe('what the user enters', () => {
  test('is a fact that can be changed, pinned, closed and taken back', async () => {
    const memory = await opened();
    const { id } = await memory.addFact({ attribute: 'home city', value: 'Porto', validFrom: '2020-01-01' });
    expect(await memory.facts()).toMatchObject([{ id, subject: 'user', value: 'Porto', source: 'edited', validFrom: Date.parse('2020-01-01'), recordedAt: NOW }]);
    expect(await memory.pinFact(id)).toMatchObject({ id, pinned: true });
    expect((await memory.merge('hello')).system).toContain('Porto');
    const edited = await memory.editFact(id, { value: 'Lisbon' });
    expect(edited).toMatchObject({ attribute: 'home city', value: 'Lisbon' });
    expect(await memory.retractFact(edited.id)).toMatchObject({ validTo: NOW, reason: 'retracted' });
    expect(await memory.facts()).toEqual([]);
    const [last] = await memory.history();
    const undone = await memory.undo(last?.id ?? '');
    expect((await memory.history())[0]).toMatchObject({ id: undone, cause: { by: 'undo', changeId: last?.id } });
    expect(await memory.facts()).toMatchObject([{ value: 'Lisbon', validTo: null }]);
    await expect(memory.undo('nonsense')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(memory.pinFact('nonsense')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('is a profile text, with its versions', async () => {
    const memory = await opened();
    await memory.setProfile('user', 'Likes tea.');
    await memory.setProfile('user', 'Likes coffee.');
    const { user, assistant, versions } = await memory.profile();
    expect([user?.text, assistant, versions.map(({ text }) => text)]).toEqual(['Likes coffee.', null, ['Likes coffee.', 'Likes tea.']]);
    expect(await memory.history('profile')).toHaveLength(2);
    expect(await memory.traits()).toEqual([]);
  });

  test('may be kept and never recalled, or forgotten for good', async () => {
    const memory = await opened();
    const { id } = await memory.addFact({ attribute: 'secrets', value: 'a hidden garden' });
    await memory.neverRecall(id);
    expect(JSON.stringify(await memory.retrieve('Which secrets are there?'))).not.toContain('garden');
    expect(await memory.facts()).toMatchObject([{ id, neverRecall: true }]);
    expect(await memory.forget(id)).toMatchObject({ facts: [id], pages: [] });
    expect(JSON.stringify(await memory.history())).not.toContain('garden');
  });

  test('settings out of range are refused by name', async () => {
    const memory = await opened();
    await memory.configure({ updatePolicy: 'offline', dailyCalls: 10 });
    expect(await memory.ledger()).toMatchObject({ today: { callsLimit: 10 } });
    await expect(memory.configure({ dailyCalls: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('dailyCalls') as string });
    await expect(memory.configure({ nonsense: 1 } as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('nonsense') as string });
    await expect(opened({ name: 'other', config: { updatePolicy: 'magic' as never } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('magic') as string });
  });
});

test('tokens are counted by the caller where he offers to', async () => {
  const seen: string[] = [];
  const memory = await opened({
    countTokens: (text) => {
      seen.push(text);
      return text.length;
    },
  });
  await memory.addMany(TURNS);
  const { context, contextTokens } = await memory.retrieve('dog', { budgetTokens: 500 });
  expect(contextTokens).toBe(context.length);
  expect(seen).toContain(context);
  const failing = await opened({ name: 'other', countTokens: () => Number.NaN });
  await failing.addMany(TURNS);
  await expect(failing.retrieve('dog')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('countTokens') as string });
});

test('o18_notes_of_memoryos_stay_several_and_come_in_once', async () => {
  const memory = await opened();
  const file = {
    shortTerm: [{ user_input: 'My dog is called Rex.', agent_response: 'ok', timestamp: '2023-05-24 22:30:00' }],
    longTerm: {
      user_profiles: { u: { data: 'Has a dog.' } },
      knowledge_base: [{ knowledge: 'Has a dog called Rex' }, { knowledge: 'Lives in Lisbon' }],
      assistant_knowledge: [{ knowledge: 'Recommended a walk' }],
    },
  };
  expect(await importMemoryOS(memory, file, { offsetMinutes: 0 })).toEqual({ pages: { added: 1, duplicates: 0 }, facts: { added: 3, duplicates: 0 }, profiles: 1, skipped: [] });
  expect(await importMemoryOS(memory, file, { offsetMinutes: 0 })).toMatchObject({ pages: { duplicates: 1 }, facts: { added: 0, duplicates: 3 }, profiles: 0 });
  expect((await memory.facts()).map(({ subject, value }) => `${subject} ${value}`).sort()).toEqual(['assistant Recommended a walk', 'user Has a dog called Rex', 'user Lives in Lisbon']);
  expect((await memory.pages())[0]).toMatchObject({ time: Date.parse('2023-05-24T22:30:00Z'), offsetMinutes: 0 });
});
