/** The Playground as a person uses it: through what is seen and named on the page. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, serve } from './server.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serves the built Playground, and nothing else. */
export async function servePlayground() {
  const dist = join(ROOT, 'www/dist');
  if (!existsSync(join(dist, 'index.html'))) throw new Error(`${dist} is not built: run npm --prefix pkg-js start -- --once first`);
  return serve({ mounts: { '/': dist } });
}

/** A real conversation where the data is at hand, else the bundled sample. */
export function conversation() {
  const dir = process.env.MEMSTRATA_DATA ?? join(ROOT, '../shared/data');
  const file = join(dir, 'locomo-dev.json');
  if (existsSync(file)) {
    const found = JSON.parse(readFileSync(file, 'utf8')).conversations.find((c) => c.id === 'conv-26');
    if (found) return { name: 'LoCoMo conv-26', ...found, questions: found.questions.filter((q) => q.category !== 'adversarial') };
  }
  const sample = JSON.parse(readFileSync(join(ROOT, 'pkg-js/sample/conversation.json'), 'utf8'));
  return { ...sample, questions: sample.questions.map((q) => ({ ...q, evidence_turns: q.evidence })) };
}

/** Default of `shortTermCapacity`. */
const SHORT_TERM_PAGES = 10;
const filler = (n) => ['What a grey morning.', 'The kettle is on.', 'Nothing much today.', 'The tram was late.', 'A parcel came.'][n % 5];

export class Playground {
  constructor(browser, page) {
    this.browser = browser;
    this.page = page;
  }

  static async open(browser, url) {
    const page = await browser.open(url, { ready: null });
    const playground = new Playground(browser, page);
    await playground.ready();
    return playground;
  }

  at(id) {
    return this.page.getByTestId(id);
  }

  /** The memory is open, whatever language says so. */
  async ready() {
    await this.page.waitForFunction(() => document.querySelector('[data-testid=status]')?.closest('[data-state]')?.dataset.state === 'ready').catch(async (error) => {
      const said = await this.page.locator('body').innerText();
      throw new Error(`the Playground is not ready: ${this.page.faults.join('; ') || error.message}\n${said.slice(0, 500)}`);
    });
  }

  async go(place) {
    await this.at(`tab-${place}`).first().click();
  }

  /** What the person said, as often as it stands in the log. */
  said(text) {
    return this.page.locator('[data-testid=message][data-role=user] .text').getByText(text, { exact: true });
  }

  /** The whole answer to a message, found by the message: what was said on earlier visits may still be coming in. */
  async answerTo(text) {
    const found = await this.page.waitForFunction((asked) => {
      const questions = [...document.querySelectorAll('[data-testid=message][data-role=user]')];
      const question = questions.findLast((each) => each.querySelector('.text')?.textContent === asked);
      const answer = question?.nextElementSibling;
      return answer?.dataset.role === 'assistant' && answer.getAttribute('aria-busy') !== 'true' && answer.innerText.trim();
    }, text);
    return found.jsonValue();
  }

  /** Asks in the chat and gives the answer's text. */
  async ask(text) {
    if (!(await this.at('chat-input').isVisible())) await this.go('chat');
    await this.at('chat-input').fill(text);
    await this.at('chat-send').click();
    return this.answerTo(text);
  }

  /** Answers come from a model server from now on. */
  async useModel(baseURL, model = 'scripted') {
    await this.go('models');
    await this.at('model-url').fill(baseURL);
    await this.at('model-name').fill(model);
    await this.at('model-use').click();
    await this.at('model-in-use').waitFor();
    await this.ready();
  }

  /** Says something, and then enough of no weight that it sinks; waits until all work on it is done. */
  async sink(...sentences) {
    for (const sentence of sentences) await this.ask(sentence);
    for (let n = 1; n <= SHORT_TERM_PAGES; n += 1) await this.ask(`${filler(n)} (${(this.fillers = (this.fillers ?? 0) + 1)})`);
    await this.go('work');
    await this.at('run-all').click();
    await this.page.waitForFunction(() => document.querySelector('[data-testid=queue-empty]') && !document.querySelector('[data-testid=run-all]').disabled);
  }

  /** A part of the place of long-term memory. */
  async longTerm(section) {
    await this.go('persona');
    await this.at(`section-${section}`).click();
  }

  fact(value, state = 'open') {
    return this.page.locator(`[data-testid=fact][data-state=${state}]`, { hasText: value });
  }

  /** Imports turns through the page and waits until all are in. */
  async importTurns({ id, name, turns, questions }) {
    const file = { id: id ?? name, turns, questions };
    return this.importFile({ name: 'conversation.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(file)) });
  }

  /** Chooses a file, looks at what is in it, starts, and waits for the end; gives what the page says then. */
  async importFile(file) {
    await this.go('data');
    await this.at('import-file').setInputFiles(file);
    await this.at('import-start').click();
    await this.page.waitForFunction(() => ['done', 'failed', 'cancelled'].includes(document.querySelector('[data-testid=import-result]')?.dataset.step));
    const step = await this.at('import-result').getAttribute('data-step');
    if (step !== 'done') throw new Error(`the import ${step}: ${await this.page.locator('#place-data').innerText()}`);
    return this.at('import-result').innerText();
  }

  /** Waits until the list of memory holds so many pages; some of them may be folded away. */
  async holds(count, search = '') {
    await this.go('memory');
    await this.at('memory-search').fill(search);
    const said = '#place-memory [role=status]';
    const enough = ([selector, n]) => Number(document.querySelector(selector).textContent.replace(/\D/g, '')) === n;
    await this.page.waitForFunction(enough, [said, count]).catch(async () => {
      throw new Error(`the list should hold ${count} pages${search && ` with "${search}"`}, and says "${await this.page.locator(said).first().innerText()}"`);
    });
  }

  async download(trigger) {
    const dir = mkdtempSync(join(tmpdir(), 'memstrata-download-'));
    const session = await this.browser.context.newCDPSession(this.page);
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: dir, eventsEnabled: true });
    const done = new Promise((resolve, reject) => session.on('Browser.downloadProgress', ({ state }) => {
      if (state === 'completed') resolve();
      if (state === 'canceled') reject(new Error('the download was cancelled'));
    }));
    await trigger();
    await done;
    const [name] = readdirSync(dir);
    const buffer = readFileSync(join(dir, name));
    rmSync(dir, { recursive: true, force: true });
    return { name, mimeType: 'application/octet-stream', buffer };
  }

  /** What axe-core has to say about the page as it is. Evaluated, since the page's own policy lets no script in. */
  async violations() {
    await this.page.evaluate(axe);
    const { violations } = await this.page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`);
  }

  /** Where the keyboard's focus is, by test id. */
  focused() {
    return this.page.evaluate(() => document.activeElement?.closest('[data-testid]')?.dataset.testid);
  }

  /** Tab until an element has the focus, as someone without a mouse does. */
  async tabTo(id, { most = 120, key = 'Tab' } = {}) {
    for (let n = 0; n < most; n += 1) {
      if ((await this.focused()) === id) return;
      await this.page.keyboard.press(key);
    }
    throw new Error(`${id} cannot be reached with ${most} presses of ${key}`);
  }
}
