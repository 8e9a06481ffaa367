// Tabs and workers on one memory, in a real browser. `MEMSTRATA_FULL=1` takes the figures of the acceptance run.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch, newProfile } from './browser.mjs';
import { bodyOf, ROOT, servePackage } from './server.mjs';

const FULL = process.env.MEMSTRATA_FULL === '1';
const TURNS_A_TAB = FULL ? 1_000 : 60;
const KILLS = FULL ? 50 : 5;
/** What a waiting call may take after the owner's death. */
const SETTLED_WITHIN_MS = 2_000;

const profile = newProfile();
/** What tabs that were killed had been told to be stored. */
const reported = [];
let browser;
let server;

/** One file of a module and all that it imports, as an application's bundler would make it for a service worker. */
async function bundled(file) {
  const { rolldown } = createRequire(join(ROOT, 'pkg-js/package.json'))('rolldown');
  const bundle = await rolldown({ input: join(ROOT, 'tests/e2e', file), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

before(async () => {
  const serviceWorker = await bundled('tabs-service-worker.mjs');
  server = await servePackage('/tests/e2e/tabs-page.mjs', {
    routes: {
      'POST /ack': async (request, response) => {
        reported.push(await bodyOf(request));
        response.writeHead(204).end();
      },
      '/service-worker.js': (_, response) => response.writeHead(200, { 'content-type': 'text/javascript' }).end(serviceWorker),
      '/other': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>another page</title>'),
    },
  });
  browser = await launch(profile);
});
after(async () => {
  await browser.close();
  await server.close();
  profile.remove();
});

async function tab(name, options) {
  const page = await browser.open(server.url);
  const call = (method, ...args) => page.evaluate(([n, a]) => window.page[n](...a), [method, args]);
  if (name !== undefined) await call('open', name, options);
  return { page, call };
}

const closeAll = (tabs) => Promise.all(tabs.map(({ page }) => page.close().catch(() => {})));
const duplicates = (texts) => texts.filter((text, at) => texts.indexOf(text) !== at);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

describe('case_35 many tabs, one memory', () => {
  for (const count of [2, 4, 8]) {
    test(`b11_${count} tabs add ${TURNS_A_TAB} turns each: the exact count, none doubled, and every tab sees all`, async (t) => {
      const tabs = await Promise.all(Array.from({ length: count }, () => tab()));
      try {
        await Promise.all(tabs.map(({ call }) => call('open', `many-${count}`)));
        const roles = await Promise.all(tabs.map(({ call }) => call('role')));
        assert.deepEqual(roles.filter((role) => role === 'owner').length, 1, roles.join(' '));
        const began = performance.now();
        const stored = await Promise.all(tabs.map(({ call }, at) => call('addMany', `tab${at}`, TURNS_A_TAB)));
        t.diagnostic(`${count * TURNS_A_TAB} turns in ${Math.round(performance.now() - began)} ms`);
        assert.deepEqual(stored, tabs.map(() => TURNS_A_TAB));
        for (const { call } of tabs) assert.equal((await call('stats')).pages, count * TURNS_A_TAB);
        const texts = await tabs[0].call('everything');
        assert.equal(texts.length, count * TURNS_A_TAB);
        assert.deepEqual(duplicates(texts), []);
        const { hits } = await tabs.at(-1).call('retrieve', 'tab0-7');
        assert.ok(hits.some(({ text }) => text === 'turn tab0-7'), 'a tab does not find what another said');
        assert.deepEqual(tabs.flatMap(({ page }) => page.faults), []);
      } finally {
        await closeAll(tabs);
      }
    });
  }

  test('a worker of the page shares it too, first as follower and then as owner', async () => {
    const one = await tab('workers');
    const two = await tab();
    try {
      await two.call('startWorker', 'workers');
      assert.equal(await two.call('inWorker', 'role'), 'follower');
      assert.equal((await two.call('inWorker', 'add', 'w1', 'said in a worker')).status, 'stored');
      assert.deepEqual(await one.call('everything'), ['said in a worker']);
      await one.page.close();
      assert.equal(await two.call('inWorker', 'role'), 'owner');
      assert.deepEqual(await two.call('inWorker', 'everything'), ['said in a worker']);
    } finally {
      await closeAll([one, two]);
    }
  });

  test('a service worker shares it: as follower, as owner, and until it is ended', async () => {
    const one = await tab('service-worker');
    const two = await tab();
    try {
      await two.call('inServiceWorker', 'open', 'service-worker');
      assert.equal(await two.call('inServiceWorker', 'role'), 'follower');
      await two.call('inServiceWorker', 'add', 's1', 'as follower');
      await one.call('close');
      assert.equal(await two.call('inServiceWorker', 'role'), 'owner');
      await two.call('inServiceWorker', 'add', 's2', 'as owner');
      await two.call('open', 'service-worker');
      assert.deepEqual([await two.call('role'), await two.call('everything')], ['follower', ['as owner', 'as follower']]);
      const session = await browser.context.newCDPSession(two.page);
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      const began = Date.now();
      while ((await two.call('role')) !== 'owner') assert.ok(Date.now() - began < SETTLED_WITHIN_MS, 'the service worker still owns it');
      assert.equal((await two.call('stats')).pages, 2);
    } finally {
      await closeAll([one, two]);
    }
  });

  test('shared: false keeps a memory to one object', async () => {
    const one = await tab('alone', { shared: false });
    const two = await tab();
    try {
      await assert.rejects(two.call('open', 'alone', { shared: false }), /is open in another tab/);
      await assert.rejects(two.call('open', 'alone'), /is open in another tab/);
      await one.call('close');
      await two.call('open', 'alone');
    } finally {
      await closeAll([one, two]);
    }
  });
});

describe('case_36 the owner dies', () => {
  test(`b11_${KILLS} times while others write: nothing acknowledged is lost or doubled, and no call waits longer than two seconds`, async (t) => {
    const acknowledged = [];
    const unknown = [];
    const waits = [];
    let tabs = [await tab('killed'), await tab('killed')];
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        tabs.push(await tab('killed'));
        const roles = await Promise.all(tabs.map(({ call }) => call('role')));
        const owner = tabs[roles.indexOf('owner')];
        const others = tabs.filter((one) => one !== owner);
        await Promise.all(others.map(({ call }, at) => call('write', `k${kill}-t${at}`)));
        await owner.call('write', `k${kill}-owner`, { report: true });
        await pause(30 + ((kill * 37) % 120));
        // A closed tab and a killed process, in turn.
        const killedAt = Date.now();
        if (kill % 2 === 0) await browser.crash(owner.page);
        else await owner.page.close();
        const probes = await Promise.all(others.map(({ call }) => call('timed', 'stats')));
        await Promise.all(others.map(({ call }) => call('stop')));
        for (const other of others) {
          await other.page.waitForFunction('window.written');
          const { acknowledged: done, failed, calls } = await other.call('outcome');
          acknowledged.push(...done);
          unknown.push(...failed);
          // Of every call that the death met, the time from it to the answer.
          waits.push(...calls.filter(({ to }) => to > killedAt).map(({ from, to }) => to - Math.max(from, killedAt)));
          assert.deepEqual(other.page.faults, []);
        }
        waits.push(...probes.map(({ at }) => at - killedAt));
        if (kill % 2 === 0) await owner.page.close().catch(() => {});
        tabs = others;
      }
      const longest = Math.max(...waits);
      t.diagnostic(`${acknowledged.length} turns acknowledged and ${reported.length} to owners that died, ${unknown.length} calls of unknown outcome, longest wait ${longest} ms`);
      assert.ok(waits.length >= KILLS * 8, `only ${waits.length} calls were met by a death`);
      assert.ok(longest <= SETTLED_WITHIN_MS, `a call waited ${longest} ms`);
      for (const { code, data } of unknown) assert.equal(typeof data?.repeatable, 'boolean', `${code} does not say whether it may be repeated`);
      assert.ok(reported.length >= KILLS, `the owners themselves wrote only ${reported.length} turns`);
      const texts = await tabs[0].call('everything');
      const there = new Set(texts);
      assert.deepEqual(duplicates(texts), [], 'a turn is doubled');
      assert.deepEqual([...acknowledged, ...reported].filter((text) => !there.has(text)), [], 'an acknowledged turn is lost');
      assert.ok(acknowledged.length > KILLS * 10, `only ${acknowledged.length} turns were written`);
    } finally {
      await closeAll(tabs);
    }
  });

  test('a tab that closes its memory hands it over: no call fails', async () => {
    const tabs = [await tab('closed'), await tab('closed')];
    try {
      await tabs[1].call('write', 'c');
      await pause(150);
      await tabs[0].call('close');
      assert.equal(await tabs[1].call('role'), 'owner');
      await pause(50);
      await tabs[1].call('stop');
      await tabs[1].page.waitForFunction('window.written');
      const { acknowledged, failed } = await tabs[1].call('outcome');
      assert.deepEqual(failed, []);
      const texts = await tabs[1].call('everything');
      assert.deepEqual([...texts].sort(), [...acknowledged].sort());
    } finally {
      await closeAll(tabs);
    }
  });
});

describe('a page that stops', () => {
  test('told that it will be frozen, it gives the memory up; when it goes on, it follows', async () => {
    const [one, two] = [await tab('frozen'), await tab('frozen')];
    const say = (type) => one.page.evaluate((name) => void document.dispatchEvent(new Event(name)), type);
    try {
      await one.call('add', 'a', 'before');
      // Said by the page itself: a headless page is never hidden, and a visible one is not frozen.
      await say('freeze');
      const began = Date.now();
      await two.call('add', 'b', 'while it is frozen');
      assert.ok(Date.now() - began <= SETTLED_WITHIN_MS);
      assert.equal(await two.call('role'), 'owner');
      await say('resume');
      await one.call('add', 'c', 'after');
      assert.equal(await one.call('role'), 'follower');
      assert.deepEqual((await two.call('everything')).sort(), ['after', 'before', 'while it is frozen']);
    } finally {
      await closeAll([one, two]);
    }
  });

  test('in the back-forward cache, it owns nothing, and it is there again when it is shown', async () => {
    const [one, two] = [await tab('cached'), await tab('cached')];
    try {
      await one.call('add', 'a', 'before');
      await one.page.evaluate('window.kept = true');
      // Not through Playwright, which knows pages that load and no others.
      const session = await browser.context.newCDPSession(one.page);
      const notKept = [];
      session.on('Page.backForwardCacheNotUsed', ({ notRestoredExplanations }) => notKept.push(...notRestoredExplanations.map(({ reason }) => reason)));
      await session.send('Page.enable');
      const evaluate = async (expression) => {
        const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
        assert.equal(exceptionDetails, undefined, expression);
        return result.value;
      };
      const until = async (expression) => {
        while (!(await evaluate(expression).catch(() => false))) await pause(20);
      };
      await session.send('Page.navigate', { url: `${server.url}/other` });
      await until("location.pathname === '/other' && document.readyState === 'complete'");
      const began = Date.now();
      await two.call('add', 'b', 'meanwhile');
      assert.ok(Date.now() - began <= SETTLED_WITHIN_MS);
      assert.equal(await two.call('role'), 'owner');
      const { entries, currentIndex } = await session.send('Page.getNavigationHistory');
      await session.send('Page.navigateToHistoryEntry', { entryId: entries[currentIndex - 1].id });
      await until("location.pathname === '/' && document.readyState === 'complete'");
      assert.equal(await evaluate('window.kept'), true, `the browser did not keep the page: ${notKept.join(', ')}`);
      await evaluate("page.add('c', 'after').then(() => undefined)");
      assert.equal(await evaluate('page.role()'), 'follower');
      assert.deepEqual((await two.call('everything')).sort(), ['after', 'before', 'meanwhile']);
    } finally {
      await closeAll([one, two]);
    }
  });
});

describe('models', () => {
  test('answer the tab that asked, and stream there', async () => {
    const [one, two] = [await tab(), await tab()];
    try {
      await one.call('openWithModel', 'models', 'the first answers');
      await two.call('openWithModel', 'models', 'the second answers');
      assert.deepEqual(await two.call('ask', 'Who is there?'), { streamed: 'the second answers', text: 'the second answers', mode: 'model' });
      assert.deepEqual(await one.call('ask', 'And you?'), { streamed: 'the first answers', text: 'the first answers', mode: 'model' });
    } finally {
      await closeAll([one, two]);
    }
  });

  test('of a tab serve an owner that has none', async () => {
    const [one, two] = [await tab('lent'), await tab()];
    try {
      await two.call('openWithModel', 'lent', 'lent');
      assert.deepEqual(await two.call('ask', 'Who is there?'), { streamed: 'lent', text: 'lent', mode: 'model' });
      assert.equal(await two.call('role'), 'follower');
      assert.equal((await one.call('ask', 'Who is there?')).mode, 'memory-only');
    } finally {
      await closeAll([one, two]);
    }
  });

  test('that are in the middle of an answer when the owner dies finish it: asked once, streamed once, stored', async () => {
    const [one, two] = [await tab('answering'), await tab()];
    try {
      await two.call('openWithSlowModel', 'answering');
      const answer = two.call('ask', 'Where were we?');
      await two.page.waitForFunction('window.finish');
      await browser.crash(one.page);
      while ((await two.call('role')) !== 'owner') await pause(20);
      await two.page.evaluate('window.finish()');
      assert.deepEqual(await answer, { streamed: 'one half, other half', text: 'one half, other half', mode: 'model' });
      assert.equal(await two.page.evaluate('window.asked'), 1);
      assert.deepEqual(await two.call('exchanges'), [['Where were we?', 'one half, other half']]);
    } finally {
      await closeAll([one, two]);
    }
  });

  test('are cut off by an abort in a following tab, and the question is kept', async () => {
    const [one, two] = [await tab('aborted'), await tab()];
    try {
      await two.call('openWithSlowModel', 'aborted');
      assert.equal((await two.call('askAndAbort', 'Never mind?')).code, 'ABORTED');
      assert.deepEqual(await one.call('exchanges'), [['Never mind?', '']]);
    } finally {
      await closeAll([one, two]);
    }
  });
});
