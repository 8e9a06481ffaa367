// Encryption at rest in a real browser: the engine in a Worker, the keys in the page, the profile's files looked through.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch, newProfile } from './browser.mjs';
import { servePackage } from './server.mjs';

const CANARY = 'marzipan-lighthouse-4417';
const PASSPHRASE = 'seven quiet herons';
let server;
before(async () => {
  server = await servePackage('/tests/e2e/encryption-page.mjs');
});
after(() => server.close());

async function tab(browser) {
  const page = await browser.open(server.url);
  return { page, call: (name, ...args) => page.evaluate(([n, a]) => window.page[n](...a), [name, args]) };
}

/** Files of the profile's databases that hold one of the texts, as UTF-8 or UTF-16. */
function holding(profile, texts) {
  const files = readdirSync(profile.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.parentPath.includes('IndexedDB'));
  assert.ok(files.length > 0, 'no database was found');
  return files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => {
    const bytes = readFileSync(path);
    return texts.some((text) => bytes.includes(text) || bytes.includes(Buffer.from(text, 'utf16le')));
  });
}

describe('s14 encryption in a browser', () => {
  test('what was acknowledged outlives SIGKILL, opens by the passphrase alone, and no file of the profile holds it', async () => {
    const profile = newProfile();
    let browser = await launch(profile);
    try {
      let { call } = await tab(browser);
      assert.deepEqual(await call('open', 'kept', 'passphrase', PASSPHRASE), { role: 'owner' });
      await call('add', { userInput: `The ${CANARY} is mine.`, agentResponse: 'Yours.' });
      const code = await call('addRecoveryCode');
      await browser.kill();
      assert.deepEqual(holding(profile, [CANARY, PASSPHRASE, 'ines.moreau', code]), []);

      browser = await launch(profile);
      ({ call } = await tab(browser));
      const { error } = await call('open', 'kept', 'passphrase', 'seven loud herons');
      assert.deepEqual([error.code, error.reason], ['FORBIDDEN', 'wrong-passphrase']);
      await call('open', 'kept', 'recovery', code);
      assert.deepEqual(await call('found', CANARY), [`The ${CANARY} is mine.`]);
      await call('changePassphrase', 'eight quiet herons');
      await call('close');
      assert.equal((await call('open', 'kept', 'passphrase', PASSPHRASE)).error.code, 'FORBIDDEN');
      assert.deepEqual(await call('open', 'kept', 'passphrase', 'eight quiet herons'), { role: 'owner' });
      assert.equal(await call('count'), 1);
    } finally {
      await browser.kill();
      profile.remove();
    }
  });

  test('the same scan finds a memory that is not encrypted', async () => {
    const profile = newProfile();
    const browser = await launch(profile);
    try {
      const { call } = await tab(browser);
      await call('openPlain', 'plain');
      await call('add', { userInput: `The ${CANARY} is mine.`, agentResponse: 'Yours.' });
      await call('close');
      await browser.kill();
      assert.notDeepEqual(holding(profile, [CANARY]), []);
    } finally {
      await browser.kill();
      profile.remove();
    }
  });

  test('a device key opens it after the browser was started again, and another does not', async () => {
    const profile = newProfile();
    let browser = await launch(profile);
    try {
      let { call } = await tab(browser);
      await call('open', 'device', 'passphrase', PASSPHRASE);
      await call('addDeviceKey', 'laptop');
      await call('add', { userInput: CANARY, agentResponse: '' });
      await call('close');
      await browser.close();
      browser = await launch(profile);
      ({ call } = await tab(browser));
      assert.equal((await call('open', 'device', 'device', 'phone')).error.reason, 'wrong-device-key');
      assert.deepEqual(await call('open', 'device', 'device', 'laptop'), { role: 'owner' });
      assert.equal((await call('found', CANARY)).length, 1);
    } finally {
      await browser.kill();
      profile.remove();
    }
  });

  test('a second tab is refused with LOCKED while the first has it open', async () => {
    const profile = newProfile();
    const browser = await launch(profile);
    try {
      const [one, two] = [await tab(browser), await tab(browser)];
      assert.deepEqual(await one.call('open', 'tabs', 'passphrase', PASSPHRASE), { role: 'owner' });
      assert.equal((await two.call('open', 'tabs', 'passphrase', PASSPHRASE)).error.code, 'LOCKED');
      await one.call('add', { userInput: CANARY, agentResponse: '' });
      await one.call('close');
      assert.deepEqual(await two.call('open', 'tabs', 'passphrase', PASSPHRASE), { role: 'owner' });
      assert.equal(await two.call('count'), 1);
    } finally {
      await browser.kill();
      profile.remove();
    }
  });

  test('a plain memory moves into an encrypted one, and out of it as an encrypted file', async () => {
    const profile = newProfile();
    const browser = await launch(profile);
    try {
      const { call } = await tab(browser);
      await call('openPlain', 'moving');
      for (let n = 0; n < 12; n++) await call('add', { userInput: `${CANARY} ${n}`, agentResponse: 'Yes.' });
      await call('close');
      const { moved, imported, left } = await call('moveAndExport', 'moving', PASSPHRASE);
      assert.deepEqual([moved.pages, moved.cleared, imported.added, left], [12, true, 12, 0]);
    } finally {
      await browser.kill();
      profile.remove();
    }
  });
});
