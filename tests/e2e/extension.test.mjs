// Browser extensions in a real browser: the side panel that www builds, and a memory that lives in a service worker.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch, newProfile } from './browser.mjs';
import { builtExtension, remove, serviceWorker, workerExtension } from './extension-parts.mjs';
import { serveModel } from './model-server.mjs';
import { serve } from './server.mjs';

const SETTLED_WITHIN_MS = 2_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const page = (title, body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"><body>${body}</body></html>`;
const MARKUP = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>';
const PAGES = {
  '/news': page('The harbour news', '<p id="words">The lighthouse opens to visitors on Saturday.</p>'),
  '/markup': page(MARKUP.replaceAll('<', '&lt;'), `<p id="words">${MARKUP.replaceAll('<', '&lt;')} a page about otters</p>`),
  '/form': page('A form', '<form><input id="password" type="password" value="hunter2"><input id="shown" type="text" name="password" value="hunter2"><input id="card" type="text" autocomplete="cc-number" value="4111"><textarea id="note">a note about beavers</textarea></form>'),
  '/allowed': page('The lighthouse is white.', ''),
  '/refused': page('The lighthouse is not allowed.', ''),
};

let web;
before(async () => {
  web = await serve({ pages: PAGES });
});
after(() => web?.close());

/** Stops every service worker, as Chrome does when memory is short. */
async function stopWorkers(browser, panel) {
  const session = await browser.context.newCDPSession(panel);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await session.detach();
}

describe('the side panel', () => {
  const profile = newProfile();
  let dir;
  let browser;
  let id;
  let model;
  /** A page of the extension from which its service worker can be woken. */
  let waker;
  const worker = () => serviceWorker(browser.context, waker);

  before(async () => {
    model = await serveModel();
    dir = builtExtension();
    browser = await launch(profile, { extension: dir });
    id = new URL((await serviceWorker(browser.context)).url()).host;
    waker = await browser.open(`chrome-extension://${id}/panel.html`, { ready: null });
  });
  after(async () => {
    await browser?.close();
    await model?.close();
    profile.remove();
    remove(dir);
  });

  async function panel() {
    const opened = await browser.open(`chrome-extension://${id}/panel.html`, { ready: () => document.querySelector('[data-testid=log]') });
    opened.setDefaultTimeout(15_000);
    const at = (name) => opened.getByTestId(name);
    const go = (place) => at(`tab-${place}`).click();
    return {
      page: opened,
      at,
      go,
      async ask(text) {
        await go('chat');
        await at('input').fill(text);
        await at('send').click();
        const answer = at('answer').last();
        await opened.waitForFunction((asked) => {
          const question = [...document.querySelectorAll('[data-testid=question]')].findLast((each) => each.innerText.includes(asked));
          return ['done', 'failed'].includes(question?.nextElementSibling?.dataset.state);
        }, text);
        return answer.innerText();
      },
      entries: async () => (await go('memories'), at('entry')),
    };
  }

  /** A click on "Remember this" as Chrome tells of it; `select` chooses in the page what is clicked on. */
  async function rememberThis(path, { text, focus, editable = false } = {}) {
    const tab = await browser.open(`${web.url}${path}`, { ready: null });
    const selectionText = text ?? (await tab.evaluate(() => document.getElementById('words').innerText));
    if (focus) await tab.evaluate((field) => document.getElementById(field).focus(), focus);
    const running = await worker();
    await running.evaluate(async ([asked, url]) => {
      await chrome.storage.session.remove('notice');
      const [opened] = (await chrome.tabs.query({})).filter((each) => each.url === url);
      chrome.contextMenus.onClicked.dispatch({ menuItemId: 'remember', pageUrl: url, frameId: 0, ...asked }, opened);
    }, [{ selectionText, editable }, `${web.url}${path}`]);
    const word = await until(() => running.evaluate(async () => (await chrome.storage.session.get('notice')).notice?.word));
    await tab.close();
    return word;
  }

  async function until(look) {
    for (let n = 0; n < 200; n += 1) {
      const found = await look();
      if (found) return found;
      await pause(50);
    }
    throw new Error('it did not come');
  }

  test('keeps a selection on request, and the panel finds it, says where it is from and why it came', async () => {
    const one = await panel();
    assert.equal(await rememberThis('/news?token=secret#part'), 'noticeKept');
    assert.match(await one.ask('When does the lighthouse open?'), /lighthouse opens to visitors on Saturday[\s\S]*Why: .*score \d/);
    const link = one.at('recalled').getByRole('link', { name: 'The harbour news' });
    assert.equal(await link.getAttribute('href'), `${web.url}/news`);
    assert.equal(await one.at('notice').getAttribute('data-word'), 'noticeKept');
    await (await one.entries()).filter({ hasText: 'opens to visitors' }).waitFor();
    // By the menu's own list there is one entry, for selections alone.
    const permissions = await (await worker()).evaluate(() => chrome.runtime.getManifest().permissions);
    assert.deepEqual(permissions, ['sidePanel', 'storage', 'contextMenus', 'offscreen', 'activeTab', 'scripting']);
    assert.deepEqual(one.page.faults, []);
    await one.page.close();
  });

  test('a site on the list is refused, with its subdomains, and so is what is in a private field', async () => {
    const one = await panel();
    await one.go('settings');
    await one.at('never').fill('https://127.0.0.1/any\n');
    await one.at('save-never').click();
    await one.page.waitForFunction(() => document.querySelector('[data-testid=never]').value === '127.0.0.1');
    assert.equal(await rememberThis('/news', { text: 'never to be kept' }), 'noticeNever');
    await one.at('never').fill('not a site\n');
    await one.at('save-never').click();
    assert.match(await one.at('never-said').innerText(), /Not a site: not a site/);
    await one.at('never').fill('');
    await one.at('save-never').click();
    await one.page.waitForFunction(() => document.querySelector('[data-testid=never]').value === '');
    for (const focus of ['password', 'shown', 'card']) assert.equal(await rememberThis('/form', { text: 'never to be kept', focus, editable: true }), 'noticePrivate', focus);
    assert.equal(await rememberThis('/form', { text: 'a note about beavers', focus: 'note', editable: true }), 'noticeKept');
    const entries = await one.entries();
    await entries.filter({ hasText: 'beavers' }).waitFor();
    assert.equal(await entries.filter({ hasText: 'never to be kept' }).count(), 0);
    await one.page.close();
  });

  test('text of a page is text: no markup of it runs', async () => {
    assert.equal(await rememberThis('/markup'), 'noticeKept');
    const one = await panel();
    assert.match(await one.ask('What about otters?'), /<img src=x onerror=[\s\S]*otters/);
    await (await one.entries()).filter({ hasText: 'a page about otters' }).waitFor();
    assert.equal(await one.page.evaluate(() => window.hacked), undefined);
    assert.equal(await one.page.locator('main img, main script').count(), 0);
    assert.deepEqual(one.page.faults, []);
    await one.page.close();
  });

  test('two panels are live: what is said, corrected and deleted in one is seen in the other', async () => {
    const [one, two] = [await panel(), await panel()];
    const seen = await two.entries();
    await one.page.bringToFront();
    await one.ask('My bicycle is green.');
    await seen.filter({ hasText: 'bicycle is green' }).waitFor();
    // Playwright is slow to click where nobody looks.
    await one.page.bringToFront();
    const entry = (await one.entries()).filter({ hasText: 'bicycle is green' });
    await entry.getByTestId('correct').click();
    await one.at('correction').fill('My bicycle is blue.');
    await one.at('save').click();
    await seen.filter({ hasText: 'bicycle is blue' }).waitFor();
    await seen.filter({ hasText: 'bicycle is green' }).waitFor({ state: 'detached' });
    await (await one.entries()).filter({ hasText: 'bicycle is blue' }).getByTestId('delete').click();
    await one.at('confirm').click();
    await seen.filter({ hasText: 'bicycle is blue' }).waitFor({ state: 'detached' });
    await Promise.all([one.page.close(), two.page.close()]);
  });

  test('a stopped service worker disturbs no panel: every call is answered within two seconds, and nothing is doubled', async () => {
    const one = await panel();
    await one.ask('The kettle is copper.');
    const asking = one.ask('What is the kettle made of?');
    await stopWorkers(browser, one.page);
    const began = Date.now();
    assert.match(await asking, /kettle is copper/);
    assert.ok(Date.now() - began <= SETTLED_WITHIN_MS);
    assert.equal(await (await one.entries()).filter({ hasText: 'kettle is copper' }).count(), 1);
    // It starts again for the next click.
    assert.equal(await rememberThis('/news', { text: 'after the stop' }), 'noticeKept');
    await one.page.close();
  });

  test('a selection that was taken when the service worker stopped is kept when it starts again, once', async () => {
    const one = await panel();
    await one.page.evaluate((pending) => chrome.storage.session.set({ [pending.id]: pending }), { id: 'web:begun', text: 'begun and not ended', title: 'T', url: `${web.url}/news`, at: Date.now() });
    await stopWorkers(browser, one.page);
    await one.page.evaluate(() => chrome.runtime.sendMessage({ memstrata: 'wake', channel: 'memory' }));
    await (await one.entries()).filter({ hasText: 'begun and not ended' }).waitFor();
    await until(() => one.page.evaluate(async () => (await chrome.storage.session.get('web:begun'))['web:begun'] === undefined));
    assert.equal(await one.at('entry').filter({ hasText: 'begun and not ended' }).count(), 1);
    await one.page.close();
  });

  test('a model answers as soon as it is set; its key is in storage.session, or local on request, and never in sync', async () => {
    const one = await panel();
    const stored = () => one.page.evaluate(async () => Object.fromEntries(await Promise.all(['local', 'session', 'sync'].map(async (area) => [area, JSON.stringify(await chrome.storage[area].get(null))]))));
    await one.go('settings');
    await one.at('address').fill(model.baseURL('whole'));
    await one.at('model').fill('scripted');
    await one.at('key').fill('sk-very-secret');
    await one.at('use').click();
    await one.page.getByText('In use: scripted').waitFor();
    let areas = await stored();
    assert.deepEqual(['local', 'session', 'sync'].map((area) => areas[area].includes('sk-very-secret')), [false, true, false]);
    assert.match(await one.ask('Hello?'), /Hello 你好🌍/);
    assert.equal(model.requests.at(-1).headers.authorization, 'Bearer sk-very-secret');
    await one.go('settings');
    await one.at('keep').check();
    await one.at('use').click();
    areas = await until(async () => { const now = await stored(); return now.local.includes('sk-very-secret') && now; });
    assert.deepEqual(['session', 'sync'].map((area) => areas[area].includes('sk-very-secret')), [false, false]);
    // Another server does not get it.
    await one.at('address').fill(model.baseURL('plain'));
    await one.at('use').click();
    await until(async () => !(await stored()).local.includes('sk-very-secret'));
    await one.at('drop').click();
    await one.page.getByText('Memory only').first().waitFor();
    assert.match(await one.ask('What is the kettle made of?'), /kettle is copper/);
    await one.page.close();
  });

  test('is right for keyboard and screen reader, light and dark', async () => {
    const one = await panel();
    await one.ask('When does the lighthouse open?');
    for (const scheme of ['light', 'dark']) {
      await one.page.emulateMedia({ colorScheme: scheme });
      for (const place of ['chat', 'memories', 'settings']) {
        await one.go(place);
        if (place === 'memories') await one.at('entry').first().getByTestId('correct').click();
        await one.page.evaluate(axe);
        const { violations } = await one.page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
        assert.deepEqual(violations.map((v) => `${scheme} ${place} ${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`), []);
      }
    }
    await one.go('chat');
    await one.page.keyboard.press('ArrowRight');
    assert.equal(await one.at('tab-memories').getAttribute('aria-selected'), 'true');
    await one.page.keyboard.press('Tab');
    assert.equal(await one.page.evaluate(() => document.activeElement.dataset.testid), 'search');
    await one.page.close();
  });

  test('a reloaded extension has all that it was told', async () => {
    const one = await panel();
    await one.ask('The anchor weighs a ton.');
    const closed = one.page.waitForEvent('close');
    (await worker()).evaluate(() => chrome.runtime.reload()).catch(() => {});
    await closed;
    const two = await until(() => panel().catch(() => undefined));
    assert.match(await two.ask('What weighs a ton?'), /anchor weighs a ton/);
    assert.equal(await (await two.entries()).filter({ hasText: 'The anchor weighs a ton.' }).count(), 1);
    await two.page.close();
  });
});

describe('incognito', () => {
  /** Files of a folder, however deep, that hold a text in one of the ways in which browsers write texts. */
  function filesWith(dir, text) {
    const ways = [Buffer.from(text), Buffer.from(text, 'utf16le')];
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return files.filter((file) => { const bytes = readFileSync(file); return ways.some((way) => bytes.includes(way)); });
  }

  test('leaves nothing, neither of what was said nor of what was kept from a page, while what was said outside stays', async () => {
    const profile = newProfile();
    const dir = builtExtension();
    let browser = await launch(profile, { extension: dir });
    try {
      const id = new URL((await serviceWorker(browser.context)).url()).host;
      const address = `chrome-extension://${id}/panel.html`;
      const settings = await browser.open('chrome://extensions', { ready: null });
      await settings.evaluate((extensionId) => chrome.developerPrivate.updateExtensionConfiguration({ extensionId, incognitoAccess: true }), id);
      // The extension starts again with that.
      let outside;
      for (let n = 0; n < 50 && !outside; n += 1) outside = await browser.open(address, { ready: () => document.querySelector('[data-testid=log]') }).catch(() => pause(100));
      const opened = browser.context.waitForEvent('page', (page) => page.url() === address || page.url() === 'about:blank');
      await outside.evaluate((url) => chrome.windows.create({ incognito: true, url }), address);
      const inside = await opened;
      await inside.getByTestId('incognito').waitFor();
      const say = async (page, text) => {
        await page.getByTestId('tab-chat').click();
        await page.getByTestId('input').fill(text);
        await page.getByTestId('send').click();
        await page.locator('[data-testid=answer][data-state=done]').last().waitFor();
      };
      await say(inside, 'The hiding place is xanthoria.');
      const [worker] = (await Promise.all(browser.context.serviceWorkers().map(async (each) => ((await each.evaluate(() => chrome.extension.inIncognitoContext)) ? [each] : [])))).flat();
      await worker.evaluate((pageUrl) => void chrome.contextMenus.onClicked.dispatch({ menuItemId: 'remember', selectionText: 'The door is zeugodacus.', pageUrl, frameId: 0, editable: false }), `${web.url}/news`);
      await inside.getByTestId('tab-memories').click();
      await inside.getByTestId('entry').filter({ hasText: 'zeugodacus' }).waitFor();
      await inside.getByTestId('tab-settings').click();
      await inside.getByTestId('outside').waitFor();
      await outside.bringToFront();
      await say(outside, 'The open place is yttrotungstite.');
      await outside.getByTestId('tab-memories').click();
      await outside.getByTestId('entry').filter({ hasText: 'yttrotungstite' }).waitFor();
      assert.equal(await outside.getByTestId('entry').count(), 1);
      const shared = await outside.evaluate(async () => JSON.stringify(await Promise.all(['local', 'session', 'sync'].map((area) => chrome.storage[area].get(null)))));
      assert.doesNotMatch(shared, /xanthoria|zeugodacus|news/);
      // Another model outside is another one inside too: its memory is opened anew, and what is in RAM alone goes along.
      await outside.evaluate(() => chrome.storage.local.set({ baseURL: 'http://127.0.0.1:9/v1', model: 'm', never: ['willemite.example'] }));
      await inside.bringToFront();
      await inside.getByTestId('tab-chat').click();
      await inside.getByTestId('input').fill('Who answers now?');
      await inside.getByTestId('send').click();
      await inside.locator('[data-testid=answer][data-state=failed]').waitFor();
      await inside.getByTestId('tab-memories').click();
      await inside.getByTestId('entry').filter({ hasText: 'Who answers now?' }).waitFor();
      await inside.getByTestId('entry').filter({ hasText: 'xanthoria' }).waitFor();
      assert.equal(await inside.getByTestId('entry').count(), 3);
      await browser.close();
      browser = undefined;
      for (const secret of ['xanthoria', 'zeugodacus']) assert.deepEqual(filesWith(profile.dir, secret), [], secret);
      for (const control of ['yttrotungstite', 'willemite']) assert.notDeepEqual(filesWith(profile.dir, control), [], `the search would not have found ${control}`);
    } finally {
      await browser?.close();
      profile.remove();
      remove(dir);
    }
  });
});

describe('b01_b11 a memory in the service worker', () => {
  const profile = newProfile();
  let dir;
  let browser;
  let id;
  before(async () => {
    dir = await workerExtension();
    browser = await launch(profile, { extension: dir });
    id = new URL((await serviceWorker(browser.context)).url()).host;
  });
  after(async () => {
    await browser?.close();
    profile.remove();
    remove(dir);
  });
  const panel = () => browser.open(`chrome-extension://${id}/page.html`, { ready: () => window.ready });

  test('stopped in the middle of calls: each settles within two seconds, nothing acknowledged is lost, nothing doubled', async (t) => {
    const [one, two] = [await panel(), await panel()];
    const panels = [one, two];
    panels.forEach((each, at) => each.evaluate((name) => void window.write(name), `panel${at}`));
    const stops = [];
    for (let stop = 0; stop < 5; stop += 1) {
      const before = await two.evaluate(() => window.count());
      await pause(150 + stop * 37);
      stops.push(Date.now());
      await stopWorkers(browser, one);
      // The stop was one, and both have a new host.
      for (const each of panels) await each.waitForFunction((n) => window.reconnects > n, stop);
      await two.waitForFunction((n) => window.count() > n + 5, before);
    }
    await Promise.all(panels.map((each) => each.evaluate(() => window.stop())));
    const calls = [];
    for (const each of panels) {
      await each.waitForFunction(() => window.written);
      calls.push(...(await each.evaluate('window.written')));
    }
    const waits = stops.flatMap((at) => calls.filter(({ from, to }) => from <= at + 100 && to >= at).map(({ from, to }) => to - Math.max(from, at)));
    const failed = calls.filter(({ code }) => code);
    t.diagnostic(`${calls.length} calls, ${stops.length} stops, ${failed.length} of unknown outcome, longest wait ${Math.max(...waits)} ms`);
    assert.ok(waits.length >= stops.length, `only ${waits.length} calls were met by a stop`);
    assert.ok(Math.max(...waits) <= SETTLED_WITHIN_MS, `a call waited ${Math.max(...waits)} ms`);
    for (const { code, data } of failed) assert.equal(typeof data?.repeatable, 'boolean', `${code} does not say whether it may be repeated`);
    const texts = await one.evaluate(() => window.everything());
    assert.equal(new Set(texts).size, texts.length, 'a turn is doubled');
    const there = new Set(texts);
    assert.deepEqual(calls.filter(({ text, code }) => text && !code && !there.has(text)), [], 'an acknowledged turn is lost');
    assert.ok(calls.length > 50, `only ${calls.length} calls were made`);
    await Promise.all(panels.map((each) => each.close()));
  });

  test('stopped in the middle of an answer: the caller is told within two seconds, and asks again by the same id', async () => {
    const one = await panel();
    await one.evaluate(() => {
      const stream = window.memory.getResponse('Where were we?', { stream: true, id: 'answer' });
      window.heard = '';
      window.outcome = (async () => {
        for await (const text of stream) window.heard += text;
      })().then(() => ({}), (error) => ({ ...window.told(error), at: Date.now() }));
    });
    await one.waitForFunction(() => window.heard === 'one half, ');
    const stopped = Date.now();
    await stopWorkers(browser, one);
    const { at, ...outcome } = await one.evaluate(() => window.outcome);
    assert.ok(at - stopped <= SETTLED_WITHIN_MS, `it waited ${at - stopped} ms`);
    assert.deepEqual([outcome.code, outcome.data], ['STORAGE_UNAVAILABLE', { reason: 'host-lost', method: 'getResponse', repeatable: true, id: 'answer' }]);
    assert.equal(await one.evaluate(async () => (await window.memory.getResponse('Where were we?', { id: 'answer' })).text), 'one half, other half');
    assert.equal((await one.evaluate(() => window.everything())).filter((text) => text === 'Where were we?').length, 1);
    await one.close();
  });

  test('a content script may do what its site is allowed, and no other site may', async () => {
    const panelPage = await panel();
    await panelPage.evaluate(() => window.memory.addMemory({ userInput: 'My own lighthouse is red.', agentResponse: '' }));
    const told = async (path) => {
      const tab = await browser.open(`${web.url}${path}`, { ready: 'document.documentElement.dataset.told' });
      const answer = JSON.parse(await tab.evaluate(() => document.documentElement.dataset.told));
      await tab.close();
      return answer;
    };
    assert.deepEqual(await told('/allowed'), { added: 'stored', found: ['The lighthouse is white.'] });
    assert.deepEqual(await told('/refused'), { added: 'FORBIDDEN', found: 'FORBIDDEN' });
    const pages = await panelPage.evaluate(() => window.memory.pages({ limit: 10_000 }));
    const [kept] = pages.filter(({ metadata }) => metadata.origin === 'web');
    assert.deepEqual(kept.metadata, { origin: 'web', site: web.url, url: `${web.url}/allowed` });
    assert.equal(pages.some(({ userInput }) => userInput.includes('not allowed')), false);
    await panelPage.close();
  });
});
