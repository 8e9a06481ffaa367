// Files of the origin private file system in a real browser.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { launch, newProfile } from './browser.mjs';
import { bodyOf, servePackage } from './server.mjs';

const heard = new EventEmitter();
const profile = newProfile();
let acknowledged = -1;
let server;
let browser;

before(async () => {
  server = await servePackage('/tests/e2e/storage-page.mjs', {
    routes: {
      'POST /ack': async (request, response) => {
        acknowledged = JSON.parse(await bodyOf(request));
        response.writeHead(204).end();
        heard.emit('ack');
      },
    },
  });
  browser = await launch(profile);
});
after(async () => {
  await browser?.close();
  await server.close();
  profile.remove();
});

async function tab() {
  const page = await browser.open(server.url);
  return (name, ...args) => page.evaluate(([n, a]) => window.page[n](...a), [name, args]);
}

describe('files in a browser', () => {
  test('o22 OpfsStorage conforms, from a page, from a worker, and when it compacts after every batch', async () => {
    const call = await tab();
    for (const outcome of [await call('conformance'), await call('conformance', { compactFromBytes: 0 }), await call('conformanceInWorker')]) {
      assert.deepEqual(outcome.failed, []);
      assert.ok(outcome.count > 15);
    }
  });

  test('case_40 the browser is killed while it writes, six times: every acknowledged turn is there', async () => {
    const seed = Date.now() >>> 0;
    console.log(`seed ${seed}`);
    let state = seed;
    for (let kill = 0; kill < 6; kill++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const call = await tab();
      await call('open');
      const found = (await call('pages')).sort((a, b) => a - b);
      assert.deepEqual(found, found.map((_, at) => at), 'a turn is missing or doubled');
      assert.ok(found.length >= acknowledged + 1 && found.length <= acknowledged + 2, `${found.length} turns, ${acknowledged + 1} acknowledged`);
      call('addForEver', found.length).catch(() => undefined);
      for (let wait = 1 + (state % 12); wait > 0; wait--) await once(heard, 'ack');
      await browser.kill();
      browser = await launch(profile);
    }
    const call = await tab();
    await call('open');
    assert.ok((await call('pages')).length > acknowledged);
    await call('close');
  });

  test('a second tab is refused until the first lets go; what is forgotten is in no file', async () => {
    const [first, second] = [await tab(), await tab()];
    await first('open');
    assert.equal(await second('codeOfOpening', 0), 'LOCKED');
    assert.ok((await first('files', 'Number ')).some(({ holds }) => holds));
    const text = await first('forget');
    await first('close');
    await second('open');
    await second('close');
    const files = await first('files', text);
    assert.ok(files.length > 0);
    const left = files.filter(({ holds }) => holds);
    assert.deepEqual(left, []);
  });
});
