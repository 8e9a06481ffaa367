/** The calls of mem0 over the real core. */
import { afterEach, describe, expect, test } from 'vitest';
import { closeAll, NOW, opened } from '../../fixtures/memories.js';
import { scriptedChat } from '../../providers/scripted.js';
import { MemoryStorage } from '../../storage/memory.js';
import { Memory } from './index.js';
import type { MemoryItem, SearchFilters, SearchResult } from './index.js';

afterEach(closeAll);

const texts = ({ results }: SearchResult) => results.map(({ memory }) => memory);
const u = { filters: { user_id: 'u' } };

/** Files every batch as one topic, and learns the dog's name where it is told. */
const learning = scriptedChat(({ messages, responseSchema }) => {
  if (responseSchema?.name === 'user_profile') return JSON.stringify({ reasoning: 'A dog.', profile: 'The user has a dog.', traits: [] });
  const pages = [...(messages.at(-1)?.content ?? '').matchAll(/^\[(p[1-9]\d*)\].*\n((?:(?!\[p\d).*\n)*)/gm)].map(([, id, text]) => ({ id, text: text ?? '' }));
  const told = pages.find(({ text }) => text.includes('My dog is called Rex.'));
  return JSON.stringify({
    reasoning: 'One topic.',
    segments: [{ continues: null, title: 'A dog', summary: 'About a dog.', keywords: ['dog'], pages: pages.map(({ id }) => id) }],
    links: pages.map(({ id }) => ({ page: id, continues: null, meta_info: 'About the dog.' })),
    facts: told ? [{ subject: 'user', attribute: 'name of the dog', value: 'Rex', kind: 'knowledge', confidence: 0.95, valid_from: null, quote: 'My dog is called Rex.', page: told.id }] : [],
  });
});

async function learned() {
  const memory = await opened({ chat: learning, config: { shortTermCapacity: 1, consolidationBatch: 1 } });
  const mem0 = new Memory(memory);
  await mem0.add([{ role: 'user', content: 'My dog is called Rex.' }, { role: 'assistant', content: 'A fine name.' }], { userId: 'u', agentId: 'vet', metadata: { topic: 'pets' } });
  await mem0.add('It rains today.', { userId: 'u', agentId: 'weather' });
  await memory.flush();
  await memory.analyse();
  return { memory, mem0 };
}

describe('b14 turns', () => {
  test('are stored as exchanges, or one by one, and told of', async () => {
    const mem0 = new Memory(await opened(), { now: () => NOW });
    const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'I like tea.' }, { role: 'assistant', content: 'Noted.' }, { role: 'user', content: 'And jazz.' }];
    const added = await mem0.add(messages, { userId: 'u', metadata: { topic: 'likes' } });
    expect(added).toEqual({ results: ['user: I like tea.\nassistant: Noted.', 'And jazz.'].map((memory) => ({ id: expect.stringMatching(/^[0-9a-f]{32}$/) as string, memory, metadata: { event: 'ADD' } })) });
    expect(texts(await mem0.add(messages, { userId: 'u', infer: false }))).toEqual(['I like tea.', 'Noted.', 'And jazz.']);
    const item = await mem0.get(added.results[0]?.id as string);
    expect(item).toEqual({ id: added.results[0]?.id, memory: 'user: I like tea.\nassistant: Noted.', createdAt: new Date(NOW).toISOString(), metadata: { topic: 'likes' }, user_id: 'u' });
    expect(await mem0.get('nowhere')).toBeNull();
  });

  test('case_11_pictures_are_kept_as_references', async () => {
    const memory = await opened();
    await new Memory(memory).add([{ role: 'user', content: { type: 'image_url', image_url: { url: 'https://example.org/a.png' } } }, { role: 'assistant', content: 'A dog.' }], { userId: 'u' });
    expect((await memory.pages())[0]).toMatchObject({ userInput: '', agentResponse: 'A dog.', metadata: { attachments: [{ side: 'user', type: 'image_url' }] } });
  });

  test('case_20_keys_that_reach_into_a_prototype_are_dropped_from_metadata', async () => {
    const mem0 = new Memory(await opened());
    const metadata = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":"kept"}') as { [key: string]: unknown };
    const [{ id }] = (await mem0.add('x', { userId: 'u', metadata })).results as [MemoryItem];
    await mem0.update(id, { metadata });
    expect(JSON.stringify((await mem0.get(id))?.metadata)).toBe('{"toString":"kept"}');
  });

  test('are found by words, agent, run and metadata, the best first', async () => {
    const mem0 = new Memory(await opened());
    await mem0.add('I keep bees.', { userId: 'u', agentId: 'a', metadata: { n: 1 } });
    await mem0.add('Bees and wasps and bees.', { userId: 'u', agentId: 'b', runId: 'r', metadata: { n: 2 } });
    await mem0.add('I play chess.', { userId: 'u', runId: 'r' });
    const search = async (filters: SearchFilters, topK = 10) => texts(await mem0.search('Do I keep bees?', { filters, topK }));
    expect(await search({ user_id: 'u' })).toEqual(['I keep bees.', 'Bees and wasps and bees.', 'I play chess.'].slice(0, 2));
    expect(await search({ user_id: 'u' }, 1)).toEqual(['I keep bees.']);
    expect(await search({ agent_id: 'b' })).toEqual(['Bees and wasps and bees.']);
    expect(await search({ user_id: 'u', run_id: 'r', n: { gte: 2 } })).toEqual(['Bees and wasps and bees.']);
    expect(await search({ user_id: 'u', agent_id: 'c' })).toEqual([]);
    const found = await mem0.search('bees', { userId: 'u', limit: 2 });
    expect(found.results.map(({ score }) => score)).toEqual([1, 0.5]);
    expect(texts(await mem0.getAll({ filters: { run_id: 'r' } }))).toEqual(['Bees and wasps and bees.', 'I play chess.']);
    expect(texts(await mem0.getAll({ ...u, topK: 2 }))).toEqual(['I keep bees.', 'Bees and wasps and bees.']);
  });

  test.each<[SearchFilters, number[]]>([
    [{ n: 2 }, [2]],
    [{ n: [1, 3] }, [1, 3]],
    [{ n: '*' }, [1, 2, 3]],
    [{ tag: '*' }, [2]],
    [{ n: { ne: 2 } }, [1, 3]],
    [{ n: { gt: 1, lt: 3 } }, [2]],
    [{ n: { lte: 2 } }, [1, 2]],
    [{ n: { in: [3] } }, [3]],
    [{ n: { nin: [3] } }, [1, 2]],
    [{ name: { contains: 'Ann' } }, [1]],
    [{ name: { icontains: 'ann' } }, [1, 3]],
    [{ AND: [{ n: { gt: 1 } }, { tag: '*' }] }, [2]],
    [{ OR: [{ n: 1 }, { tag: 'x' }] }, [1, 2]],
    [{ NOT: [{ n: 1 }, { tag: 'x' }] }, [3]],
    [{ toString: '*' }, []],
  ])('the filter %j finds %j', async (filters, found) => {
    const mem0 = new Memory(await opened());
    for (const metadata of [{ n: 1, name: 'Ann' }, { n: 2, name: 'Bo', tag: 'x' }, { n: 3, name: 'Joanna' }]) await mem0.add(`number ${metadata.n}`, { userId: 'u', metadata });
    const { results } = await mem0.getAll({ filters: { ...filters, user_id: 'u' } });
    expect(results.map(({ metadata }) => metadata?.n)).toEqual(found);
  });

  test('are updated under the same id, with a history, and survive a reopening', async () => {
    const storage = new MemoryStorage();
    const before = await opened({ storage });
    const mem0 = new Memory(before);
    const [{ id }] = (await mem0.add('I live in Lisbon.', { userId: 'u', runId: 'r', metadata: { a: 1 } })).results as [MemoryItem];
    expect(await mem0.update(id, { text: 'I live in Porto.', metadata: { b: 2 } })).toEqual({ message: 'Memory updated successfully!' });
    await mem0.update(id, { metadata: { a: 3 } });
    await before.close();
    const memory = await opened({ storage });
    const after = new Memory(memory);
    expect(await after.get(id)).toMatchObject({ id, memory: 'I live in Porto.', metadata: { a: 3, b: 2 }, run_id: 'r', updatedAt: expect.any(String) as string });
    expect((await memory.pages()).map(({ userInput }) => userInput)).toEqual(['I live in Porto.']);
    expect((await after.history(id)).map(({ action, previous_value, new_value, memory_id }) => [action, previous_value, new_value, memory_id === id])).toEqual([
      ['UPDATE', 'I live in Porto.', 'I live in Porto.', true],
      ['UPDATE', 'I live in Lisbon.', 'I live in Porto.', true],
      ['ADD', null, 'I live in Lisbon.', true],
    ]);
    expect(texts(await after.search('Where do I live?', u))).toEqual(['I live in Porto.']);
  });

  test('a crash in the midst of an update leaves the new text, once', async () => {
    const storage = new MemoryStorage();
    const before = await opened({ storage });
    const mem0 = new Memory(before);
    const [{ id }] = (await mem0.add('old', { userId: 'u' })).results as [MemoryItem];
    Object.defineProperty(before, 'forget', { value: () => Promise.reject(new Error('crash')) });
    await expect(mem0.update(id, 'new')).rejects.toThrow('crash');
    await before.close();
    const memory = await opened({ storage });
    expect(texts(await new Memory(memory).getAll(u))).toEqual(['new']);
    expect((await memory.stats()).pages).toBe(1);
  });

  test('are left out after their day, and shown on request', async () => {
    const mem0 = new Memory(await opened(), { now: () => NOW });
    await mem0.add('The code is 4711.', { userId: 'u', expirationDate: '2026-02-28' });
    await mem0.add('The code is 4712.', { userId: 'u', expirationDate: '2026-03-01' });
    expect(texts(await mem0.search('code', u))).toEqual(['The code is 4712.']);
    expect(texts(await mem0.getAll({ ...u, showExpired: true }))).toHaveLength(2);
    const [{ id }] = (await mem0.getAll({ ...u, showExpired: true })).results as [MemoryItem];
    await mem0.update(id, { expirationDate: null });
    expect(texts(await mem0.getAll(u)).sort()).toEqual(['The code is 4711.', 'The code is 4712.']);
  });

  test('are deleted one by one, by run, and all', async () => {
    const memory = await opened();
    const mem0 = new Memory(memory);
    const [{ id }] = (await mem0.add('one', { userId: 'u' })).results as [MemoryItem];
    for (const text of ['two', 'three']) await mem0.add(text, { userId: 'u', runId: 'r' });
    await memory.addMemory({ userInput: 'not through this door', agentResponse: '' });
    expect(await mem0.delete(id)).toEqual({ message: 'Memory deleted successfully!' });
    expect(await mem0.history(id)).toEqual([]);
    await expect(mem0.delete(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(mem0.update(id, 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await mem0.deleteAll({ runId: 'r' })).toEqual({ message: 'Memories deleted successfully!' });
    expect((await memory.pages()).map(({ userInput }) => userInput)).toEqual(['not through this door']);
    await mem0.reset();
    expect(await memory.pages()).toEqual([]);
  });
});

describe('facts', () => {
  test('come with the memory’s own work, and have agent and metadata of the turn they rest on', async () => {
    const { mem0 } = await learned();
    const { results } = await mem0.getAll(u);
    expect(results[0]).toMatchObject({ memory: 'name of the dog: Rex', user_id: 'u', agent_id: 'vet', metadata: { topic: 'pets', attribute: 'name of the dog' } });
    expect(await mem0.get(results[0]?.id as string)).toEqual(results[0]);
    expect(texts(await mem0.search('What is the name of my dog?', u))[0]).toBe('name of the dog: Rex');
    expect(texts(await mem0.search('What is the name of my dog?', { filters: { agent_id: 'weather' } }))).not.toContain('name of the dog: Rex');
  });

  test('are updated and deleted, with their history', async () => {
    const { mem0, memory } = await learned();
    const id = (await memory.facts())[0]?.id as string;
    await mem0.update(id, 'name of the dog: Max');
    expect((await memory.facts())[0]).toMatchObject({ value: 'Max', source: 'edited' });
    expect((await mem0.history(id)).map(({ action, previous_value, new_value }) => [action, previous_value, new_value])).toEqual([
      ['UPDATE', 'name of the dog: Rex', 'name of the dog: Max'],
      ['ADD', null, 'name of the dog: Rex'],
    ]);
    await expect(mem0.update(id, { metadata: { a: 1 } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await mem0.delete(id);
    expect(await memory.facts()).toEqual([]);
  });

  test('go with the turns they rest on', async () => {
    const { mem0, memory } = await learned();
    await mem0.deleteAll({ agentId: 'vet' });
    expect(await memory.facts({ closed: true })).toEqual([]);
    expect((await memory.pages()).map(({ userInput }) => userInput)).toEqual(['It rains today.']);
  });
});

test('what is wrong is named', async () => {
  const mem0 = new Memory(await opened());
  const wrong: [Promise<unknown>, RegExp][] = [
    [mem0.add('x', {}), /userId, agentId and runId/],
    [mem0.add('x', { userId: 'other' }), /open a memory for each user/],
    [mem0.add('x', { userId: 'u u' }), /white space/],
    [mem0.add([], { userId: 'u' }), /say nothing/],
    [mem0.add(' ', { userId: 'u' }), /say nothing/],
    [mem0.add('x', { userId: 'u', expirationDate: 'soon' }), /2026-03-01/],
    [mem0.search('x', {}), /at least one of/],
    [mem0.search('x', { filters: { user_id: 'other' } }), /open a memory for each user/],
    [mem0.search('x', { ...u, threshold: 0.5 }), /threshold/],
    [mem0.search('x', { ...u, rerank: true }), /rerank/],
    [mem0.search('x', { ...u, topK: 1.5 }), /topK/],
    [mem0.getAll({}), /at least one of/],
    [mem0.deleteAll({}), /at least one of/],
    [mem0.update('x', {}), /at least one of/],
  ];
  for (const [call, message] of wrong) await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) as string });
  await mem0.add('x', { userId: 'u', metadata: { n: 1 } });
  await expect(mem0.getAll({ filters: { user_id: 'u', n: { near: 1 } } })).rejects.toThrow('near');
  await expect(mem0.getAll({ filters: { user_id: 'u', OR: { n: 1 } } })).rejects.toThrow('list');
});
