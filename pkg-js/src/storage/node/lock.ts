/**
 * A lock file against a second process. It names its owner, who touches it from time to time. An owner that has died leaves it
 * behind: it is taken over when the process is gone, or, where that cannot be told, when nobody has touched it for a minute.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, readFileSync, readlinkSync, renameSync, statSync, unlinkSync, utimesSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { MemoryOSError } from '../../errors.js';
import type { Hold } from '../log/file.js';

const BEAT_MS = 10_000;
const SILENCE_MS = 60_000;
const POLL_MS = 50;

interface Owner {
  pid: number;
  /** When the process began, in the system's own count: numbers of processes are used again. */
  start: string;
  /** The machine, and on it the space in which `pid` counts (a container has its own). */
  host: string;
  token: string;
}

export interface FileLockOptions {
  /** How long to wait for an owner that is on its way out. Default 3,000. */
  waitMs?: number;
}

/** Takes the lock or rejects with LOCKED. */
export async function lockFile(path: string, { waitMs = 3_000 }: FileLockOptions = {}): Promise<Hold> {
  const owner: Owner = { pid: process.pid, start: startOf(process.pid), host: hostOf(), token: randomUUID() };
  const end = performance.now() + waitMs;
  for (;;) {
    if (create(path, owner)) return hold(path, owner);
    const other = readOwner(path);
    if (isStale(path, other)) takeAway(path, other);
    else if (performance.now() >= end) throw lockedBy(path, other);
    else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function create(path: string, owner: Owner): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(file, JSON.stringify(owner));
  } finally {
    closeSync(file);
  }
  return true;
}

function hold(path: string, owner: Owner): Hold {
  const mine = (): boolean => readOwner(path)?.token === owner.token;
  // Does not keep the process alive.
  const beat = setInterval(() => {
    if (mine()) utimesSync(path, new Date(), new Date());
  }, BEAT_MS).unref();
  return {
    check() {
      if (!mine()) throw new MemoryOSError('LOCKED', `another process has taken ${path} over, because this one did not run for a while: close the memory and open it again`);
    },
    release() {
      clearInterval(beat);
      if (mine()) unlinkSync(path);
    },
  };
}

/** Nothing where the file is gone, or half written. */
function readOwner(path: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(path, 'utf8')) as Partial<Owner> | null;
    return typeof owner?.token === 'string' && typeof owner.pid === 'number' ? owner as Owner : undefined;
  } catch {
    return undefined;
  }
}

function isStale(path: string, owner: Owner | undefined): boolean {
  if (owner?.host === hostOf()) {
    if (!isAlive(owner.pid)) return true;
    const start = startOf(owner.pid);
    if (start !== '' && owner.start !== '') return start !== owner.start;
  }
  try {
    return Date.now() - statSync(path).mtimeMs > SILENCE_MS;
  } catch {
    return false;
  }
}

/** Two may find the same stale lock: whoever moves a fresh one away by mistake puts it back. */
function takeAway(path: string, stale: Owner | undefined): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
    if (readOwner(aside)?.token !== stale?.token) linkSync(aside, path);
    unlinkSync(aside);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  }
}

function lockedBy(path: string, owner: Owner | undefined): MemoryOSError {
  const who = owner ? `process ${owner.pid} on ${owner.host.split(' ')[0]}` : 'another process';
  return new MemoryOSError('LOCKED', `the memory is open in ${who}: close it there, or give this one a directory of its own. If that process is gone, ${path} is taken over a minute after its last sign of life`, { data: { path, pid: owner?.pid } });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** Empty where the system does not tell. */
function startOf(pid: number): string {
  try {
    // Behind the name, which may hold anything, the 20th value.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function hostOf(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
