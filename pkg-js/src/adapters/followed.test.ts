import { afterEach, expect, test } from 'vitest';
import { closeAll, counted, opened } from '../fixtures/memories.js';
import { scriptedChat } from '../providers/scripted.js';
import { Followed, queue } from './followed.js';

afterEach(closeAll);

test('pages are followed as they come, get their answers and go, without being read again', async () => {
  const memory = await opened({ chat: scriptedChat('Rex.') });
  await memory.addMany(Array.from({ length: 40 }, (_, at) => ({ userInput: `turn ${at}`, agentResponse: '' })));
  const followed = new Followed(memory, ({ userInput, agentResponse }) => (userInput === 'turn 0' ? undefined : `${userInput} ${agentResponse}`));
  expect([...(await followed.now()).values()].slice(0, 2)).toEqual(['turn 1 ', 'turn 2 ']);
  const [lists, reads] = [counted(memory, 'pages'), counted(memory, 'getMemory')];
  const { pageId } = await memory.getResponse('Who?', { id: 'a' });
  await memory.forget((await followed.now()).keys().next().value as string);
  const now = [...(await followed.now()).values()];
  expect([now[0], now.at(-1), now.length]).toEqual(['turn 2 ', 'Who? Rex.', 39]);
  await followed.now();
  // The one answer was read; what has not changed was not.
  expect([lists.calls, reads.calls]).toEqual([[], [[pageId]]]);
});

test('a page that goes while the list is read hides no other', async () => {
  const memory = await opened();
  await memory.addMany(Array.from({ length: 5 }, (_, at) => ({ userInput: `turn ${at}`, agentResponse: '' })));
  const real = memory.pages.bind(memory);
  let first = true;
  Object.defineProperty(memory, 'pages', {
    value: async (options: object) => {
      const found = await real(options);
      if (first) await memory.forget(found[0]?.id as string);
      first = false;
      return found;
    },
  });
  expect([...(await new Followed(memory, ({ userInput }) => userInput).now()).values()]).toEqual(['turn 0', 'turn 1', 'turn 2', 'turn 3']);
});

test('a queue goes on after a failure, in order', async () => {
  const inTurn = queue();
  const done: string[] = [];
  const task = (name: string, fails = false) => inTurn(async () => {
    await Promise.resolve();
    done.push(name);
    if (fails) throw new Error(name);
  });
  await Promise.allSettled([task('a'), task('b', true), task('c')]);
  await expect(task('d', true)).rejects.toThrow('d');
  expect(done).toEqual(['a', 'b', 'c', 'd']);
});
