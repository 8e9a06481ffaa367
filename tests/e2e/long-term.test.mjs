// Long-term memory in the Playground, with a model that answers by rule: what it notes is seen, doubted, taken back, and stays.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launch, newProfile } from './browser.mjs';
import { serveModel } from './model-server.mjs';
import { Playground, servePlayground } from './playground.mjs';
import { serve } from './server.mjs';

let server;
let model;
before(async () => {
  server = await servePlayground();
  model = await serveModel();
});
after(async () => {
  await server?.close();
  await model?.close();
});

/** A browser and the page in it, for the tests of one `describe`. */
function opened() {
  const profile = newProfile();
  const at = {};
  before(async () => {
    at.browser = await launch(profile);
    at.playground = await Playground.open(at.browser, server.url);
  });
  after(async () => {
    await at.browser?.close();
    profile.remove();
  });
  return at;
}

describe('what is told settles', () => {
  const at = opened();

  test('two things that were said become facts, each with its quotation and the page it was said on', async () => {
    const { playground } = at;
    await playground.useModel(model.baseURL('whole'));
    await playground.sink('My name is Anna and this is my first day here.', 'I live in Lisbon, near the river.');
    await playground.longTerm('facts');
    await playground.fact('Anna').waitFor();
    await playground.fact('Lisbon').waitFor();
    assert.equal(await playground.fact('Anna').getByTestId('quote').innerText(), 'My name is Anna');
    assert.equal(await playground.fact('Lisbon').getByTestId('quote').innerText(), 'I live in Lisbon');
    assert.match(await playground.fact('Lisbon').innerText(), /said by you · confidence \d+%/);
    await playground.fact('Lisbon').getByTestId('to-page').click();
    assert.match(await playground.at('memory-row').innerText(), /I live in Lisbon, near the river\./);
    assert.equal(await playground.at('memory-row').count(), 1);
    await playground.at('all-pages').click();
    assert.ok((await playground.at('memory-row').count()) > 1);
    await playground.longTerm('profile');
    assert.match(await playground.page.locator('[data-slot=name]').innerText(), /Anna/);
  });

  test('the bedrock of the picture holds them, and an answer that uses one lights it', async () => {
    const { playground } = at;
    await playground.page.locator('[data-testid=record-line][aria-label*=Lisbon]').waitFor();
    await playground.ask('Where do I live?');
    await playground.at('recalled-link').last().click();
    const hit = playground.page.locator('[data-testid=fact-hit][data-packed=true]', { hasText: 'Lisbon' });
    await hit.waitFor();
    assert.match(await hit.innerText(), /score \d/);
    await playground.page.locator('[data-testid=record-line][data-lit][aria-label*=Lisbon]').waitFor();
  });

  test('a contradiction closes the older fact with its reason, and that is undone', async () => {
    const { playground } = at;
    await playground.sink('I live in Porto.');
    await playground.longTerm('facts');
    await playground.fact('Porto').waitFor();
    assert.equal(await playground.fact('Lisbon').count(), 0);
    await playground.at('show-closed').check();
    const closed = playground.fact('Lisbon', 'closed');
    assert.equal(await closed.getByTestId('fact-reason').getAttribute('data-reason'), 'later');
    assert.match(await closed.getByTestId('fact-next').innerText(), /Porto/);
    await closed.getByTestId('fact-history').click();
    const change = playground.page.locator('[data-testid=change]', { has: playground.page.locator('[data-testid=step][data-kind=closed]', { hasText: 'Lisbon' }) });
    assert.match(await change.innerText(), /scripted/);
    await change.getByTestId('change-undo').click();
    await playground.page.locator('[data-testid=step][data-kind=reopened]', { hasText: 'Lisbon' }).waitFor();
    assert.equal(await change.getByTestId('change-undo').getAttribute('aria-disabled'), 'true');
    await playground.at('section-facts').click();
    await playground.fact('Lisbon').waitFor();
    assert.equal(await playground.fact('Porto').count(), 0);
  });

  test('it is still there after a reload', async () => {
    const { playground } = at;
    await playground.page.reload();
    await playground.ready();
    await playground.longTerm('facts');
    await playground.fact('Lisbon').waitFor();
    await playground.fact('Anna').waitFor();
    assert.deepEqual(playground.page.faults, []);
  });

  test('analysis writes a profile and rates a trait, with what was said for it', async () => {
    const { playground } = at;
    await playground.go('work');
    await playground.at('analyse').click();
    await playground.page.waitForFunction(() => /analysed: \d/.test(document.querySelector('[data-testid=background-status]').textContent));
    await playground.longTerm('traits');
    await playground.at('trait').first().waitFor();
    const quote = await playground.at('trait').first().getByTestId('quote').first().textContent();
    await playground.longTerm('profile');
    assert.match(await playground.page.locator('[data-testid=profile-text][data-of=user]').innerText(), /The user said/);
    await playground.holds(1, quote);
  });
});

describe('what one enters oneself', () => {
  const at = opened();

  test('a fact is added, edited in place, pinned, retracted and taken back; nothing in it is markup', async () => {
    const { playground } = at;
    const { page } = playground;
    await playground.longTerm('facts');
    await playground.at('fact-add').click();
    await playground.at('fact-attribute').fill('garden gate');
    await playground.at('fact-value').fill('<img src=x onerror=alert(1)> green');
    await page.keyboard.press('Enter');
    const fact = playground.fact('garden gate');
    await fact.waitFor();
    assert.equal(await page.locator('#place-persona img').count(), 0);
    assert.match(await fact.innerText(), /<img src=x onerror=alert\(1\)> green/);
    await fact.getByTestId('fact-edit').click();
    assert.equal(await playground.focused(), 'fact-value');
    await playground.at('fact-value').fill('blue');
    await playground.at('fact-save').click();
    await playground.fact('blue').waitFor();
    assert.equal(await playground.focused(), 'fact-edit');
    await fact.getByTestId('fact-pin').click();
    await page.locator('[data-testid=fact-pin][aria-pressed=true]').waitFor();
    await fact.getByTestId('fact-retract').click();
    await fact.waitFor({ state: 'detached' });
    await playground.at('notice-undo').click();
    await playground.fact('blue').waitFor();
  });

  test('a fact that is never recalled is not, and one that is deleted is gone for good', async () => {
    const { playground } = at;
    const fact = playground.fact('garden gate');
    await fact.getByTestId('fact-never').click();
    await playground.page.locator('[data-testid=fact-never][aria-pressed=true]').waitFor();
    await playground.ask('Which colour is the garden gate?');
    await playground.go('inspector');
    assert.equal(await playground.at('fact-hit').count(), 0);
    await playground.longTerm('facts');
    await fact.getByTestId('fact-delete').click();
    await playground.at('confirm').click();
    await fact.waitFor({ state: 'detached' });
    await playground.page.reload();
    await playground.ready();
    await playground.longTerm('facts');
    await playground.at('fact-add').waitFor();
    assert.equal(await playground.page.getByTestId('fact').count(), 0);
  });

  test('a page that is never recalled is not, until it is again', async () => {
    const { playground } = at;
    await playground.ask('The spare key hangs behind the clock.');
    await playground.holds(1, 'spare key');
    await playground.at('never-item').click();
    await playground.at('never-mark').waitFor();
    assert.doesNotMatch(await playground.ask('Where does the spare key hang?'), /behind the clock/);
    await playground.holds(1, 'spare key hangs');
    await playground.at('never-item').click();
    await playground.at('never-mark').waitFor({ state: 'detached' });
    assert.match(await playground.ask('Where is the spare key, then?'), /behind the clock/);
  });

  test('a profile is written, and its earlier version kept', async () => {
    const { playground } = at;
    await playground.longTerm('profile');
    const text = playground.page.locator('[data-testid=profile-text][data-of=user]');
    for (const words of ['Likes the sea.', 'Likes the sea and the hills.']) {
      await text.getByTestId('profile-edit').click();
      await text.getByTestId('profile-field').fill(words);
      await text.getByTestId('profile-save').click();
      await text.locator('.prose', { hasText: words }).first().waitFor();
    }
    await text.locator('summary').click();
    assert.match(await text.locator('.versions').innerText(), /Likes the sea\.$/);
  });

  test('axe finds nothing in any part of it, light and dark, wide and narrow', async () => {
    const { playground } = at;
    await playground.longTerm('facts');
    await playground.at('fact-add').click();
    await playground.at('fact-attribute').fill('tea');
    await playground.at('fact-value').fill('black');
    await playground.at('fact-save').click();
    await playground.fact('black').waitFor();
    for (const [width, theme] of [[1280, 'light'], [1280, 'dark'], [360, 'light']]) {
      await playground.page.setViewportSize({ width, height: 800 });
      await playground.at('theme').selectOption(theme);
      for (const section of ['facts', 'profile', 'traits', 'changes']) {
        await playground.longTerm(section);
        assert.deepEqual(await playground.violations(), [], `${section}, ${theme}, ${width}`);
        const over = await playground.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${section} is ${over} px wider than the screen`);
      }
    }
    await playground.page.setViewportSize({ width: 1280, height: 900 });
    await playground.at('theme').selectOption('auto');
  });
});

describe('background work in the reader’s hands', () => {
  const at = opened();

  test('paused work waits and says so, and goes on when it is resumed', async () => {
    const { playground } = at;
    await playground.useModel(model.baseURL('whole'));
    await playground.go('work');
    await playground.at('pause').click();
    await playground.at('resume').waitFor();
    for (let n = 1; n <= 16; n += 1) await playground.ask(`Remark number ${n}.`);
    await playground.go('work');
    await playground.page.locator('[data-testid=job][data-kind=consolidate] [data-waits-for=pause]').waitFor();
    await playground.page.reload();
    await playground.ready();
    await playground.go('work');
    await playground.at('resume').waitFor();
    await playground.at('resume').click();
    await playground.at('pause').waitFor();
    await playground.page.locator('[data-testid=job][data-kind=consolidate]').waitFor({ state: 'detached' });
    await playground.page.locator('[data-testid=ledger-row][data-operation=respond]').waitFor();
  });

  test('the policy and the limits are set, and kept over a reload', async () => {
    const { playground } = at;
    const { page } = playground;
    await playground.go('work');
    await playground.at('policy-offline').click();
    await page.locator('[data-testid=policy][data-policy=offline]').waitFor();
    await playground.at('daily-calls').fill('40');
    await playground.at('set-limits').click();
    await page.locator('[data-testid=budget] meter').waitFor();
    await page.reload();
    await playground.ready();
    await playground.go('work');
    assert.ok(await playground.at('policy-offline').isChecked());
    assert.match(await playground.at('budget').innerText(), /of 40 calls/);
    // Offline asks nobody: what sinks now is filed by rules.
    const asked = () => model.requests.filter(({ body }) => !body.stream).length;
    const before = asked();
    await playground.sink('My name is Bela.');
    assert.equal(asked(), before);
    await playground.at('daily-calls').fill('-1');
    await playground.at('set-limits').click();
    assert.equal(await playground.focused(), 'daily-calls');
  });

  test('style and relationship reach the model', async () => {
    const { playground } = at;
    await playground.go('models');
    await playground.at('style').fill('in rhyme');
    await playground.at('relationship').fill('an old friend of the house');
    await playground.ask('How are you?');
    const prompt = JSON.stringify(model.requests.findLast(({ body }) => body.stream).body.messages);
    assert.match(prompt, /in rhyme/);
    assert.match(prompt, /an old friend of the house/);
  });
});

describe('a connection is tested', () => {
  const at = opened();
  const tested = async (baseURL) => {
    const { playground } = at;
    await playground.go('models');
    await playground.at('model-url').fill(baseURL);
    await playground.at('model-name').fill('scripted');
    await playground.at('model-test').focus();
    await playground.page.keyboard.press('Enter');
    await playground.page.waitForFunction(() => ['ok', 'failed'].includes(document.querySelector('[data-testid=model-outcome]').dataset.step));
    assert.equal(await playground.focused(), 'model-test', 'the focus left the button');
  };
  const trouble = () => at.playground.at('model-trouble');

  test('a server that answers', async () => {
    await tested(model.baseURL('whole'));
    assert.match(await at.playground.at('model-outcome').innerText(), /It works: an answer came in \d+ ms/);
    assert.equal(await trouble().count(), 0);
  });

  test('a server that refuses the key', async () => {
    await tested(model.baseURL('locked'));
    assert.equal(await trouble().getAttribute('data-cause'), 'key');
    assert.match(await trouble().innerText(), /Type the key again/);
    assert.deepEqual(await at.playground.violations(), []);
  });

  test('a port where nothing listens, in the reader’s language', async () => {
    const gone = await serve({});
    await gone.close();
    await at.playground.at('lang').selectOption('zh');
    await tested(`${gone.url}/v1`);
    assert.equal(await trouble().getAttribute('data-cause'), 'local');
    assert.match(await trouble().innerText(), /OLLAMA_ORIGINS=http:\/\/127\.0\.0\.1:\d+/);
    assert.match(await trouble().innerText(), /\p{Script=Han}/u);
  });

  test('an address that the page may not reach takes the focus to its field', async () => {
    const { playground } = at;
    await playground.at('model-url').fill('http://192.0.2.1/v1');
    await playground.at('model-test').click();
    assert.equal(await playground.focused(), 'model-url');
  });
});
