import { beforeEach, expect, test, vi } from 'vitest';
import { fact, FakeMemory } from './fake-memory';

let memory: FakeMemory;
vi.mock('../src/memory/open', () => ({ memory: async () => memory.engine }));
const { act, deedTrouble, lastDeed, undo } = await import('../src/persona/deeds');

beforeEach(() => {
  memory = new FakeMemory();
  memory.factList = [fact('f', 'home city', 'Porto')];
});

test('a retraction is offered to be taken back, and can be', async () => {
  expect(await act('retracted', 'home city: Porto', (engine) => engine.retractFact('f'))).toBe(true);
  expect(memory.factList[0]).toMatchObject({ reason: 'retracted' });
  const { undo: changeId } = lastDeed.value!;
  expect(changeId).toBe(memory.changes[0]!.id);
  expect(await undo(changeId!, 'home city: Porto')).toBe(true);
  expect(memory.factList[0]!.validTo).toBeNull();
  expect(lastDeed.value).toEqual({ deed: 'undone', what: 'home city: Porto', undo: null });
});

test('what is recorded by no change offers no older one', async () => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(1_000);
  await act('edited', 'x', (engine) => engine.editFact('f', { value: 'Braga' }));
  expect(lastDeed.value!.undo).not.toBeNull();
  now.mockReturnValue(2_000);
  await act('never', 'x', (engine) => engine.neverRecall('f', true), 'f');
  expect(lastDeed.value).toEqual({ deed: 'never', what: 'x', undo: null });
  now.mockRestore();
});

test('what a model did is not offered here', async () => {
  memory.change({ by: 'analysis', pages: [], model: 'm', step: 'segments' }, [{ what: 'fact', id: 'f', before: null, after: memory.factList[0]! }]);
  await act('deleted', 'x', async () => undefined, 'f');
  expect(lastDeed.value!.undo).toBeNull();
});

test('an error is told and nothing is said to be done', async () => {
  memory.failure = Object.assign(new Error('no room'), { code: 'STORAGE_QUOTA' });
  expect(await act('retracted', 'x', (engine) => engine.retractFact('f'))).toBe(false);
  expect(deedTrouble.value).toEqual({ code: 'STORAGE_QUOTA', detail: 'no room' });
  expect(lastDeed.value).toBeNull();
  expect(await undo('gone', 'x')).toBe(false);
  expect(deedTrouble.value!.code).toBe('NOT_FOUND');
});

test('history that cannot be read does not undo what was done', async () => {
  expect(
    await act('pinned', 'x', async (engine) => {
      const pinned = await engine.pinFact('f', true);
      memory.failure = new Error('later');
      return pinned;
    }),
  ).toBe(true);
  expect(lastDeed.value).toEqual({ deed: 'pinned', what: 'x', undo: null });
});
