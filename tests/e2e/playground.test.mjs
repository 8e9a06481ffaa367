// The Playground in a real browser: it takes a conversation, outlives what happens to browsers, and answers from it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sentences } from '../eval/atoms.mjs';
import { launch, newProfile } from './browser.mjs';
import { toPages } from '../lib/pages.mjs';
import { loadSample } from '../lib/sample.mjs';
import { Playground, conversation, servePlayground } from './playground.mjs';

let server;
before(async () => {
  server = await servePlayground();
});
after(() => server?.close());

const bare = (text) => text.replace(/\s+/g, '');
/** An answer shows a turn when it holds a sentence of it. */
const shows = (answer, turn) => sentences(turn.text).some((s) => bare(answer).includes(bare(s)));

describe('in two tabs', () => {
  const profile = newProfile();
  let browser;
  before(async () => {
    browser = await launch(profile);
  });
  after(async () => {
    await browser?.close();
    profile.remove();
  });

  test('case_35: what is said in one is seen in the other as it happens, and the other goes on when the first is closed', async () => {
    const first = await Playground.open(browser, server.url);
    const second = await Playground.open(browser, server.url);
    await first.ask('The spare key hangs behind the blue door.');
    await second.said('The spare key hangs behind the blue door.').waitFor();
    await second.holds(1);
    await second.ask('My sister Ada comes on Friday.');
    await first.said('My sister Ada comes on Friday.').waitFor();
    await first.page.close();
    assert.match(await second.ask('Where is the spare key?'), /blue door/);
    await second.holds(3);
    assert.deepEqual(second.page.faults, []);
  });
});

describe('a memory that stays', () => {
  const profile = newProfile();
  const inSample = toPages(loadSample().turns).length;
  let pages = inSample; // every message to the chat becomes a page too
  let browser;
  let playground;
  before(async () => {
    browser = await launch(profile);
    playground = await Playground.open(browser, server.url);
  });
  after(async () => {
    await browser?.close();
    profile.remove();
  });
  const ask = (text) => {
    pages += 1;
    return playground.ask(text);
  };

  test('a sample is loaded, asked about, and still there after a reload', async () => {
    await playground.at('sample-mixed').click();
    await playground.holds(inSample);
    const answer = await ask('What is the order number of the lens repair?');
    assert.match(answer, /ERR-4417-b/);
    assert.match(answer, /2026/, 'the answer tells no date');
    assert.match(await ask('我对什么食物过敏？'), /花生/);
    await playground.at('recalled-link').last().click();
    assert.match(await playground.page.locator('#place-inspector').innerText(), /花生/);
    await playground.holds(pages);
    await playground.page.reload();
    await playground.ready();
    await playground.holds(pages);
    assert.match(await ask('Does Ines still drink coffee?'), /no longer drink coffee/);
    assert.deepEqual(playground.page.faults, []);
  });

  test('one item is deleted and is not recalled again', async () => {
    await playground.go('memory');
    await playground.at('memory-search').fill('I dropped the zoom');
    const row = playground.page.locator('[data-testid=memory-row]', { hasText: 'I dropped the zoom' }).filter({ hasText: 'Noted: the repair order' });
    await row.getByTestId('delete-item').click();
    await playground.at('confirm').click();
    await row.waitFor({ state: 'detached' });
    pages -= 1;
    await playground.page.reload();
    await playground.ready();
    await playground.holds(pages);
    assert.doesNotMatch(await ask('What did I drop at the workshop on Great Junction Street?'), /ERR-4417-b, please keep/);
  });

  test('everything is exported, cleared and brought back', async () => {
    await playground.holds(pages);
    await playground.go('data');
    const file = await playground.download(() => playground.at('export').click());
    assert.ok(file.buffer.length > 1_000, `the export has ${file.buffer.length} bytes`);
    await playground.at('clear').click();
    await playground.at('confirm').click();
    await playground.at('welcome').waitFor();
    await playground.importFile(file);
    await playground.holds(pages);
    assert.match(await ask('我在多依树订了哪家民宿？'), /云上阿嫫/);
  });
});

describe('what comes back', () => {
  const profile = newProfile();
  let browser;
  let playground;
  before(async () => {
    browser = await launch(profile);
    playground = await Playground.open(browser, server.url);
  });
  after(async () => {
    await browser?.close();
    profile.remove();
  });
  const question = 'What is the order number of the lens repair?';
  const clear = async () => {
    await playground.go('data');
    await playground.at('clear').click();
    await playground.at('confirm').click();
    await playground.at('welcome').waitFor();
  };

  test('pages that were cleared and come back are shown again', async () => {
    await playground.at('sample-mixed').click();
    await playground.holds(toPages(loadSample().turns).length);
    await playground.go('data');
    const file = await playground.download(() => playground.at('export').click());
    await clear();
    await playground.importFile(file);
    assert.match(await playground.ask(question), /ERR-4417-b/, 'after the import of the export');
    await playground.go('inspector');
    assert.ok((await playground.at('hit').count()) > 0, 'the inspector shows no hit');
    await playground.go('memory');
    const row = playground.page.locator('[data-testid=memory-row]', { hasText: question });
    await row.getByTestId('delete-item').click();
    await playground.at('confirm').click();
    await row.waitFor({ state: 'detached' });
    assert.equal(await playground.said(question).count(), 0, 'a deleted question stands in the chat still');
    await clear();
    await playground.at('sample-mixed').click();
    await playground.holds(toPages(loadSample().turns).length);
    assert.match(await playground.ask(question), /ERR-4417-b/, 'after the sample was loaded anew');
  });

  test('every passage of the context is listed, lit and marked', async () => {
    const { page } = playground;
    await playground.go('inspector');
    const recalled = Number((await playground.at('recalled-link').last().innerText()).match(/\d+/)[0]);
    const listed = page.locator('[data-testid=message]').last().getByTestId('passage');
    assert.equal(await listed.count(), recalled);
    assert.ok(recalled > 10, `only ${recalled} passages: no more than the hits`);
    const used = page.locator('#place-inspector :is([data-testid=hit], [data-testid=packed])', { hasText: 'in context' });
    assert.equal(await used.count(), recalled);
    const ids = (locator) => locator.evaluateAll((all) => [...new Set(all.map((each) => each.dataset.pageId))].sort());
    assert.deepEqual(await ids(page.locator('[data-testid=grain][data-lit]')), await ids(used));
  });

  test('a question of an earlier visit tells that its answer is not stored, and is answered again where it stands', async () => {
    await playground.page.reload();
    await playground.ready();
    assert.match(await playground.answerTo(question), /No stored answer/);
    const { pages } = await counted();
    await playground.at('chat-retry').click();
    await playground.at('passage').first().waitFor();
    assert.match(await playground.answerTo(question), /ERR-4417-b/);
    assert.equal(await playground.said(question).count(), 1);
    assert.equal((await counted()).pages, pages, 'asking again stored the question twice');
  });

  async function counted() {
    await playground.go('memory');
    await playground.at('memory-row').first().waitFor();
    return { pages: Number((await playground.page.locator('#place-memory [role=status]').first().innerText()).replace(/\D/g, '')) };
  }
});

describe('a real conversation', () => {
  const profile = newProfile();
  after(() => profile.remove());

  test('it is imported, the browser is killed, and its own questions find their evidence', async (t) => {
    const real = conversation();
    t.diagnostic(`the conversation is ${real.name}, ${real.turns.length} turns`);
    let browser = await launch(profile);
    try {
      let playground = await Playground.open(browser, server.url);
      const pages = toPages(real.turns).length;
      await playground.importTurns(real);
      await playground.holds(pages);
      await playground.page.reload();
      await playground.ready();
      await playground.holds(pages);
      await browser.kill();
      browser = await launch(profile);
      playground = await Playground.open(browser, server.url);
      await playground.holds(pages);
      const turns = new Map(real.turns.map((turn) => [turn.id, turn]));
      const asked = real.questions.filter((q) => q.evidence_turns?.length).filter((_, i, all) => i % Math.ceil(all.length / 16) === 0);
      const shares = [];
      for (const question of asked) {
        const answer = await playground.ask(question.question);
        const evidence = question.evidence_turns.map((id) => turns.get(id)).filter(Boolean);
        shares.push(evidence.filter((turn) => shows(answer, turn)).length / evidence.length);
      }
      const mean = shares.reduce((a, b) => a + b, 0) / shares.length;
      t.diagnostic(`${asked.length} questions, ${(100 * mean).toFixed(0)} % of their evidence in the answers`);
      assert.ok(mean >= 0.75, `only ${mean} of the evidence was shown`);
    } finally {
      await browser.close();
    }
  });
});

describe('for everyone', () => {
  const profile = newProfile();
  let browser;
  let playground;
  before(async () => {
    browser = await launch(profile);
  });
  after(async () => {
    await browser?.close();
    profile.remove();
  });
  beforeEach(async () => {
    await playground?.page.close();
    playground = await Playground.open(browser, server.url);
    // Nothing of the test before.
    await playground.go('data');
    await playground.at('clear').click();
    await playground.at('confirm').click();
    await playground.at('welcome').waitFor();
  });

  test('axe finds nothing, in any place, light and dark, wide and narrow', async () => {
    assert.deepEqual(await playground.violations(), [], 'the empty page');
    await playground.at('sample-mixed').click();
    await playground.at('grain').or(playground.at('segment')).first().waitFor();
    await playground.ask('When does the exhibition Salt Hours open?');
    for (const theme of ['light', 'dark']) {
      await playground.at('theme').selectOption(theme);
      for (const place of ['inspector', 'memory', 'persona', 'data', 'models', 'work']) {
        await playground.go(place);
        assert.deepEqual(await playground.violations(), [], `${place}, ${theme}`);
      }
    }
    await playground.page.setViewportSize({ width: 360, height: 740 });
    for (const place of ['chat', 'strata', 'inspector', 'memory', 'persona', 'data', 'models', 'work']) {
      await playground.go(place);
      assert.deepEqual(await playground.violations(), [], `${place}, narrow`);
      const over = await playground.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${place} is ${over} px wider than the screen`);
    }
  });

  test('the language is switched, marked, and kept', async () => {
    const { page } = playground;
    await playground.at('lang').selectOption('zh');
    await page.waitForFunction(() => document.documentElement.lang.startsWith('zh'));
    assert.match(await page.locator('header').innerText(), /\p{Script=Han}/u);
    assert.match(await playground.at('chat-send').innerText(), /^\p{Script=Han}+$/u);
    await page.reload();
    await playground.ready();
    assert.match(await page.evaluate(() => document.documentElement.lang), /^zh/);
    await playground.at('lang').selectOption('en');
    await page.waitForFunction(() => document.documentElement.lang === 'en');
  });

  test('the keyboard is enough: ask, open what was recalled, change the place, delete', async () => {
    const { page } = playground;
    await playground.tabTo('chat-input');
    await page.keyboard.type('My locker at the pool is number 58.');
    await page.keyboard.press('Enter');
    await playground.answerTo('My locker at the pool is number 58.');
    await page.keyboard.type('Which number is my locker?');
    await page.keyboard.press('Enter');
    assert.match(await playground.answerTo('Which number is my locker?'), /number 58/);
    await playground.tabTo('recalled-link', { key: 'Shift+Tab' });
    await page.keyboard.press('Enter');
    await page.locator('#place-inspector').getByText(/58/).first().waitFor();
    await playground.tabTo('tab-inspector');
    await page.keyboard.press('ArrowRight');
    assert.equal(await playground.focused(), 'tab-memory');
    const rows = (n) => page.waitForFunction((count) => document.querySelectorAll('[data-testid=memory-row]').length === count, n);
    await rows(2);
    await playground.tabTo('delete-item');
    await page.keyboard.press('Enter');
    await playground.tabTo('confirm', { most: 6 });
    await page.keyboard.press('Enter');
    await rows(1);
  });

  test('Enter that ends a composition picks a word and does not send', async () => {
    const { page } = playground;
    const input = playground.at('chat-input');
    await input.focus();
    const session = await browser.context.newCDPSession(page);
    await session.send('Input.imeSetComposition', { text: '你', selectionStart: 1, selectionEnd: 1 });
    // What Chromium reports for keys that the input method takes: key code 229, within a composition.
    await session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', windowsVirtualKeyCode: 229, key: 'Enter', code: 'Enter' });
    // What others report: Enter with isComposing set.
    await input.evaluate((field) => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', isComposing: true, bubbles: true, cancelable: true })));
    await session.send('Input.insertText', { text: '你好' });
    assert.equal(await page.locator('[data-testid=message]', { hasText: '你' }).count(), 0, 'it was sent in the middle of a composition');
    assert.equal(await input.inputValue(), '你好');
    await page.keyboard.press('Enter');
    await playground.answerTo('你好');
    assert.equal(await playground.said('你好').count(), 1);
  });
});
