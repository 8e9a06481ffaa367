import { expect, test } from 'vitest';
import { MemoryOS } from '../memory-os.js';
import { MemoryStorage } from './memory.js';
import { registerStorage } from './registry.js';

const open = (storage: string) => MemoryOS.open({ name: 'm', userId: 'u', embedder: 'none', storage });

test('o22_an_engine_is_opened_by_the_name_it_was_registered_under_until_it_is_taken_away', async () => {
  const store = new MemoryStorage();
  const remove = registerStorage('mine', () => store);
  const memory = await open('mine');
  await memory.addMemory({ userInput: 'hello', agentResponse: '' });
  await memory.close();
  const again = await open('mine');
  expect(await again.pages()).toHaveLength(1);
  await again.close();
  expect(() => registerStorage('mine', () => store)).toThrow('"mine" already');
  remove();
  await expect(open('mine')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('"mine"') });
});

test('o22_names_that_are_taken_and_what_makes_no_engine_are_refused', async () => {
  for (const name of ['indexeddb', 'memory', '', 7 as never]) expect(() => registerStorage(name, () => new MemoryStorage())).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  expect(() => registerStorage('none', undefined as never)).toThrow('got undefined');
  const remove = registerStorage('broken', () => ({}) as never);
  await expect(open('broken')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  remove();
});
