import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isForgotten } from '../src/memory/forgotten';
import { facts, forgetPersona, moved, personaMoved, readPersona, stir, stirred } from '../src/memory/persona';
import { fact, FakeMemory, trait } from './fake-memory';

let memory: FakeMemory;
vi.mock('../src/memory/open', () => ({ memory: async () => memory.engine }));
const { forget } = await import('../src/memory/forget');

beforeEach(() => {
  vi.useFakeTimers();
  forgetPersona();
  memory = new FakeMemory();
  memory.factList = [fact('f', 'home city', 'Porto')];
});
afterEach(() => void vi.useRealTimers());

const read = async (): Promise<void> => (await readPersona(memory.engine))();

test('long-term memory is read once, and again only after it moved', async () => {
  const asked = vi.spyOn(memory, 'facts');
  await read();
  await read();
  expect(asked).toHaveBeenCalledTimes(1);
  expect(facts.value.map((each) => each.id)).toEqual(['f']);
  personaMoved();
  await read();
  expect(asked).toHaveBeenCalledTimes(2);
});

test('what a change touched is lit, and goes out again', async () => {
  await read();
  memory.on('persona-changed', (event) => {
    personaMoved(event.changeId);
    stir();
  });
  memory.change({ by: 'user' }, [{ what: 'fact', id: 'f', before: memory.factList[0]!, after: null }, { what: 'trait', id: 'trait_4', before: null, after: trait(4) }]);
  expect(stirred.value).toBe(true);
  await read();
  expect([...moved.value]).toEqual(['f', 'trait_4']);
  vi.advanceTimersByTime(60_000);
  expect([stirred.value, moved.value.size]).toEqual([false, 0]);
});

test('a reading that fails is made up for, with what it was to light', async () => {
  personaMoved('c9');
  memory.changes = [{ id: 'c9', at: 0, cause: { by: 'user' }, steps: [{ what: 'fact', id: 'f', before: null, after: memory.factList[0]! }], undoable: true }];
  memory.failure = new Error('busy');
  await expect(read()).rejects.toThrow('busy');
  await read();
  expect([...moved.value]).toEqual(['f']);
});

test('a fact that is deleted is gone from old answers too, until it comes back', async () => {
  await read();
  await forget(['f']);
  expect(isForgotten('f')).toBe(true);
  memory.factList = [fact('f', 'home city', 'Porto')];
  await read();
  expect(isForgotten('f')).toBe(false);
});
