import { afterEach, expect, test } from 'vitest';
import { closeAll, counted, opened } from '../fixtures/memories.js';
import type { MemoryOS } from '../memory-os.js';
import { scriptedChat } from '../providers/scripted.js';
import type { MemoryEvent, PageView } from '../types.js';
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

/** A memory that is told what to say; another tab stores pages without a word. */
function handedOver(...ids: string[]) {
  const pages = ids.map((id) => ({ id }) as PageView);
  let tell!: (event: MemoryEvent) => void;
  let beforeRead = (): void => undefined;
  const memory = {
    on: (_: string, listener: typeof tell) => ((tell = listener), () => undefined),
    pages: async () => {
      const list = [...pages].reverse();
      beforeRead();
      return list;
    },
    getMemory: async (id: string) => {
      beforeRead();
      return pages.find((page) => page.id === id) ?? null;
    },
  } as unknown as MemoryOS;
  const followed = new Followed(memory, ({ id }) => id);
  const now = async () => [...(await followed.now()).values()];
  /** Once, in the middle of the next read. */
  const meanwhile = (fn: () => void): void => {
    beforeRead = () => {
      beforeRead = () => undefined;
      fn();
    };
  };
  const change = (kept: (id: string) => boolean, added: string): void => {
    pages.splice(0, pages.length, ...pages.filter(({ id }) => kept(id)), { id: added } as PageView);
    tell({ type: 'role', role: 'follower' });
  };
  return { now, meanwhile, change, pages, tell: (event: MemoryEvent) => tell(event) };
}

test('after a change of owner everything is read anew: nobody told what happened between two', async () => {
  const { now, change } = handedOver('p1', 'p2');
  expect(await now()).toEqual(['p1', 'p2']);
  change((id) => id !== 'p1', 'p3');
  expect(await now()).toEqual(['p2', 'p3']);
});

test.each(['the list', 'a page'])('also where the owner changes while %s is read', async (what) => {
  const { now, meanwhile, change, pages, tell } = handedOver('p1');
  if (what === 'a page') {
    await now();
    pages.push({ id: 'p2' } as PageView);
    tell({ type: 'page-added', pageId: 'p2' });
  }
  meanwhile(() => change((id) => id !== 'p1', 'p3'));
  expect(await now()).toEqual(what === 'a page' ? ['p2', 'p3'] : ['p3']);
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
