// The means of the tests, tested without the package: a server that serves, a browser that dies and keeps its profile.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, newProfile } from './browser.mjs';
import { serve } from './server.mjs';

let server;
const profile = newProfile();
before(async () => {
  server = await serve({ pages: { '/': '<!doctype html><title>x</title><script>window.ready = true</script>' } });
});
after(async () => {
  await server.close();
  profile.remove();
});

test('a profile outlives a close and a kill', async () => {
  let browser = await launch(profile);
  let page = await browser.open(server.url);
  await page.evaluate(() => localStorage.setItem('kept', 'yes'));
  await browser.close();
  browser = await launch(profile);
  page = await browser.open(server.url);
  assert.equal(await page.evaluate(() => localStorage.getItem('kept')), 'yes');
  await browser.kill();
  browser = await launch(profile);
  page = await browser.open(server.url);
  assert.equal(await page.evaluate(() => localStorage.getItem('kept')), 'yes');
  await browser.crash(page);
  page = await browser.open(server.url);
  assert.equal(await page.title(), 'x');
  await browser.close();
});

test('the server gives no file from outside its folders', async () => {
  const other = await serve({ mounts: { '/e2e/': new URL('.', import.meta.url).pathname } });
  assert.equal((await fetch(`${other.url}/e2e/server.mjs`)).headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal((await fetch(`${other.url}/e2e/..%2fpackage.json`)).status, 404);
  assert.equal((await fetch(`${other.url}/elsewhere`)).status, 404);
  await other.close();
});
