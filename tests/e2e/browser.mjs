/**
 * A Chromium with a profile of its own that can be closed, killed with SIGKILL, and started again on the same profile.
 * It is started here rather than by Playwright, because a test that kills must know the process it kills.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.CHROME_PATH ?? '/usr/bin/chromium';
const FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-quic', '--window-size=1280,900', '--remote-debugging-port=0',
];
const START_TIMEOUT_MS = 60_000;

/** A new, empty profile folder; `remove` takes it away. */
export function newProfile() {
  const dir = mkdtempSync(join(tmpdir(), 'memstrata-profile-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
}

function debuggingAddress(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`Chromium did not start within ${START_TIMEOUT_MS} ms: ${said}`)), START_TIMEOUT_MS);
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      said = (said + piece).slice(-4_000);
      const found = said.match(/DevTools listening on (ws:\S+)/);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    });
    child.once('exit', (code) => reject(new Error(`Chromium ended with ${code} before it listened: ${said}`)));
  });
}

/** Without it Chromium disables an unpacked extension as soon as it is reloaded. */
function inDeveloperMode(dir) {
  const file = join(dir, 'Default', 'Preferences');
  if (existsSync(file)) return;
  mkdirSync(join(dir, 'Default'), { recursive: true });
  writeFileSync(file, JSON.stringify({ extensions: { ui: { developer_mode: true } } }));
}

/** @param {{dir: string}} profile  @param {{extension?: string}} [options] `extension`: the folder of one that is loaded unpacked */
export async function launch(profile, { extension } = {}) {
  if (!existsSync(EXECUTABLE)) throw new Error(`no browser at ${EXECUTABLE}: install Chromium or set CHROME_PATH`);
  // A killed browser leaves its lock behind, and the next one would wait for it.
  for (const lock of ['SingletonLock', 'SingletonSocket', 'SingletonCookie']) rmSync(join(profile.dir, lock), { force: true });
  // A process group of its own, so that a kill takes the renderers along.
  if (extension !== undefined) inDeveloperMode(profile.dir);
  const loaded = extension === undefined ? [] : [`--disable-extensions-except=${extension}`, `--load-extension=${extension}`];
  const child = spawn(EXECUTABLE, [...FLAGS, ...loaded, `--user-data-dir=${profile.dir}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const killGroup = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Already gone.
    }
  };
  process.once('exit', killGroup);
  let browser;
  try {
    browser = await chromium.connectOverCDP(await debuggingAddress(child));
  } catch (error) {
    killGroup();
    throw error;
  }
  const [context] = browser.contexts();
  const end = async () => {
    await gone;
    killGroup();
    process.removeListener('exit', killGroup);
  };
  return {
    context,
    /** A new tab; what goes wrong in the page is thrown into the test as `page.faults`. */
    async open(url, { ready = 'window.ready' } = {}) {
      const page = await context.newPage();
      page.faults = [];
      page.on('pageerror', (error) => page.faults.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
      await page.goto(url);
      if (ready) await page.waitForFunction(ready).catch((error) => { throw new Error(`${url} is not ready: ${page.faults.join('; ') || error.message}`); });
      return page;
    },
    /** The tab dies as by the task manager, its worker with it. */
    async crash(page) {
      const crashed = page.waitForEvent('crash');
      const session = await context.newCDPSession(page);
      session.send('Page.crash').catch(() => {});
      await crashed;
    },
    /** SIGKILL of the whole browser. */
    async kill() {
      killGroup();
      await end();
      await browser.close().catch(() => {});
    },
    /** An orderly end, as when a person quits. */
    async close() {
      const session = await browser.newBrowserCDPSession();
      session.send('Browser.close').catch(() => {});
      await end();
      await browser.close().catch(() => {});
    },
  };
}
