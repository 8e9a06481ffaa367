// The Playground in a real browser: it takes a conversation, outlives what happens to browsers, and answers from it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sentences } from '../eval/atoms.mjs';
import { launch, newProfile } from './browser.mjs';
import { Playground, conversation, servePlayground } from './playground.mjs';

let server;
before(async () => {
  server = await servePlayground();
});
after(() => server?.close());

const bare = (text) => text.replace(/\s+/g, '');
/** An answer shows a turn when it holds a sentence of it. */
const shows = (answer, turn) => sentences(turn.text).some((s) => bare(answer).includes(bare(s)));

describe('a memory that stays', () => {
  const profile = newProfile();
  let browser;
  after(async () => {
    await browser?.close();
    profile.remove();
  });

  test('a sample is loaded, asked about, and still there after a reload', async () => {
    browser = await launch(profile);
    let playground = await Playground.open(browser, server.url);
    await playground.at('sample-mixed').click();
    await playground.at('grain').or(playground.at('segment')).first().waitFor();
    const answer = await playground.ask('What is the order number of the lens repair?');
    assert.match(answer, /ERR-4417-b/);
    assert.match(answer, /2026/, 'the answer tells no date');
    assert.match(await playground.ask('我对什么食物过敏？'), /花生/);
    await playground.at('recalled-link').last().click();
    assert.match(await playground.page.locator('#place-inspector').innerText(), /花生/);
    const pages = await playground.rows();
    assert.ok(pages > 30, `${pages} pages`);
    await playground.page.reload();
    await playground.ready();
    assert.equal(await playground.rows(), pages);
    assert.match(await playground.ask('Does Ines still drink coffee?'), /no longer drink coffee/);
    assert.deepEqual(playground.page.faults, []);
  });

  test('one item is deleted and is not recalled again', async () => {
    const playground = await Playground.open(browser, server.url);
    const before = await playground.rows();
    assert.equal(await playground.rows('ERR-4417-b, please keep'), 1);
    await playground.at('delete-item').first().click();
    await playground.at('confirm').click();
    await playground.at('memory-row').waitFor({ state: 'detached' });
    assert.equal(await playground.rows(), before - 1);
    await playground.page.reload();
    await playground.ready();
    assert.equal(await playground.rows('ERR-4417-b, please keep'), 0);
    assert.doesNotMatch(await playground.ask('What did I drop at the workshop on Great Junction Street?'), /ERR-4417-b, please keep/);
  });

  test('everything is exported, cleared and brought back', async () => {
    const playground = await Playground.open(browser, server.url);
    const before = await playground.rows();
    await playground.go('data');
    const file = await playground.download(() => playground.at('export').click());
    assert.ok(file.buffer.length > 1_000, `the export has ${file.buffer.length} bytes`);
    await playground.at('clear').click();
    await playground.at('confirm').click();
    await playground.at('welcome').waitFor();
    assert.equal(await playground.rows(), 0);
    await playground.importFile(file);
    await playground.page.waitForFunction((n) => document.querySelectorAll('[data-testid=memory-row]').length === n, before);
    assert.equal(await playground.rows(), before);
    assert.match(await playground.ask('我在多依树订了哪家民宿？'), /云上阿嫫/);
  });
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
      await playground.importTurns(real);
      const pages = await playground.rows();
      await playground.page.reload();
      await playground.ready();
      assert.equal(await playground.rows(), pages);
      await browser.kill();
      browser = await launch(profile);
      playground = await Playground.open(browser, server.url);
      assert.equal(await playground.rows(), pages);
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
  });

  test('axe finds nothing, in any place, light and dark, wide and narrow', async () => {
    assert.deepEqual(await playground.violations(), [], 'the empty page');
    await playground.at('sample-mixed').click();
    await playground.at('grain').or(playground.at('segment')).first().waitFor();
    await playground.ask('When does the exhibition Salt Hours open?');
    for (const theme of ['light', 'dark']) {
      await playground.at('theme').selectOption(theme);
      for (const place of ['inspector', 'memory', 'data', 'models', 'work']) {
        await playground.go(place);
        assert.deepEqual(await playground.violations(), [], `${place}, ${theme}`);
      }
    }
    await playground.page.setViewportSize({ width: 360, height: 740 });
    for (const place of ['chat', 'strata', 'inspector', 'memory', 'data']) {
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
    const before = await playground.answers().count();
    await page.keyboard.press('Enter');
    await playground.answer(before);
    await page.keyboard.type('Which number is my locker?');
    await page.keyboard.press('Enter');
    assert.match(await playground.answer(before + 1), /58/);
    await playground.tabTo('recalled-link', { key: 'Shift+Tab' });
    await page.keyboard.press('Enter');
    await page.locator('#place-inspector').getByText(/58/).first().waitFor();
    await playground.tabTo('tab-inspector');
    await page.keyboard.press('ArrowRight');
    assert.equal(await playground.focused(), 'tab-memory');
    await page.locator('[data-testid=memory-row]', { hasText: 'My locker at the pool' }).first().waitFor();
    const rows = await playground.at('memory-row').count();
    await playground.tabTo('delete-item');
    await page.keyboard.press('Enter');
    await playground.tabTo('confirm', { most: 6 });
    await page.keyboard.press('Enter');
    await page.waitForFunction((n) => document.querySelectorAll('[data-testid=memory-row]').length === n, rows - 1);
  });

  test('Enter that ends a composition picks a word and does not send', async () => {
    const { page } = playground;
    const input = playground.at('chat-input');
    await input.focus();
    const sent = () => page.locator('[data-testid=message][data-role=user]').count();
    const before = await sent();
    const session = await browser.context.newCDPSession(page);
    await session.send('Input.imeSetComposition', { text: '你', selectionStart: 1, selectionEnd: 1 });
    // What Chromium reports for keys that the input method takes: key code 229, within a composition.
    await session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', windowsVirtualKeyCode: 229, key: 'Enter', code: 'Enter' });
    // What others report: Enter with isComposing set.
    await input.evaluate((field) => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', isComposing: true, bubbles: true, cancelable: true })));
    await session.send('Input.insertText', { text: '你好' });
    assert.equal(await sent(), before, 'it was sent in the middle of a composition');
    assert.equal(await input.inputValue(), '你好');
    const answers = await playground.answers().count();
    await page.keyboard.press('Enter');
    await playground.answer(answers);
    assert.equal(await sent(), before + 1);
  });
});
