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

  answers() {
    return this.page.locator('[data-testid=message][data-role=assistant]');
  }

  /** The last answer, once there is one more than `before` and it is whole. */
  async answer(before) {
    await this.page.waitForFunction((n) => {
      const all = document.querySelectorAll('[data-testid=message][data-role=assistant]');
      return all.length > n && all[all.length - 1].getAttribute('aria-busy') !== 'true';
    }, before);
    return (await this.answers().last().innerText()).trim();
  }

  /** Asks in the chat and gives the answer's text. */
  async ask(text) {
    if (!(await this.at('chat-input').isVisible())) await this.go('chat');
    const before = await this.answers().count();
    await this.at('chat-input').fill(text);
    await this.at('chat-send').click();
    return this.answer(before);
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

  /** How many pages the list of memory holds. */
  async rows(search = '') {
    await this.go('memory');
    await this.at('memory-search').fill(search);
    return this.at('memory-row').count();
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
