#!/usr/bin/env node
/** The command `memstrata-mcp`. */
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { isMemoryOSError } from '../errors.js';
import { MemoryOS } from '../memory-os.js';
import { openAICompatible } from '../providers/openai-compatible.js';
import { NodeStorage } from '../storage/node/index.js';
import { serveMcp } from './index.js';
import { embedderSettled } from './opening.js';
import { HELP, readSettings } from './settings.js';
import type { Settings } from './settings.js';

/** A server that was told to end and cannot do so in order within so long is ended without it. What was acknowledged is on the disk. */
const GRACE_MS = 10_000;

const say = (words: string): void => void process.stderr.write(`memstrata-mcp: ${words}\n`);

async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === 'help') return void process.stdout.write(HELP);
  if (settings === 'version') return void process.stdout.write(`${version}\n`);
  // The key is in the provider now; no process that is started from here needs it.
  delete process.env.MEMSTRATA_API_KEY;

  const ending = new AbortController();
  const end = (): void => {
    ending.abort();
    setTimeout(() => process.exit(1), GRACE_MS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  await serveMcp({
    open: () => open(settings), input: process.stdin, output: onlyForMessages(), version, readOnly: settings.readOnly, signal: ending.signal,
    onError: (error) => say(`the memory was not closed in order: ${wordsOf(error)}`),
  });
  process.stdin.destroy();
}

/** The real standard output; what anything else prints, also what a dependency logs, goes to standard error. */
function onlyForMessages(): NodeJS.WritableStream & PassThrough {
  const write = process.stdout.write.bind(process.stdout);
  const messages = new PassThrough();
  messages.on('data', (bytes: Uint8Array) => write(bytes));
  process.stdout.on('error', (error) => messages.destroy(error));
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return messages;
}

async function open({ directory, name, userId, assistantId, embedder, chat }: Settings): Promise<MemoryOS> {
  const memory = await MemoryOS.open({
    name, userId, assistantId, embedder, storage: new NodeStorage({ directory }), ...(chat ? { chat: openAICompatible(chat) } : {}),
  });
  memory.on('job-failed', ({ code, message }) => say(`background work failed: ${code}: ${message}`));
  if (embedder === 'builtin') await embedderSettled(memory);
  return memory;
}

function wordsOf(error: unknown): string {
  return isMemoryOSError(error) ? `${error.code}: ${error.message}` : String(error);
}

main().catch((error: unknown) => {
  say(wordsOf(error));
  process.exitCode = 2;
});
