/** Running things with their names and times said, and failing with a remedy. Plain Node: runs before any install. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A failure that a person can do something about. */
export class Failure extends Error {
  constructor(message, remedy) {
    super(message);
    this.remedy = remedy;
  }
}

const coloured = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = (text) => paint('1', text);
export const dim = (text) => paint('2', text);
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Runs one named step. The work may return a note, which is printed with the time it took. */
export async function step(name, work) {
  say(`${bold('>')} ${name}`);
  const start = performance.now();
  const note = await work();
  say(dim(`  ${typeof note === 'string' ? `${note}, ` : ''}${seconds(performance.now() - start)}`));
}

/** The environment of a child: without the prefix that `npm --prefix` would hand on to every npm below it. */
export function childEnv(extra = {}) {
  const env = { ...process.env, ...extra };
  for (const key of Object.keys(env)) if (/^npm_config_(local_|global_)?prefix$/i.test(key)) delete env[key];
  return env;
}

/**
 * Runs a program to its end, its output on ours, or through `onOutput` piece by piece as well. Resolves with its exit code.
 * While it says nothing, a dot every ten seconds shows that it lives.
 */
export function run(command, args, { cwd, env = {}, onOutput, quiet = false, stdio } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: childEnv(env), stdio: stdio ?? (onOutput || quiet ? ['inherit', 'pipe', 'pipe'] : 'inherit') });
    const beat = quiet ? setInterval(() => process.stdout.write('.'), 10_000) : undefined;
    let beaten = '';
    const pass = (target) => (piece) => {
      if (!quiet && !stdio) target.write(piece);
      else beaten = (beaten + piece).slice(-20_000);
      onOutput?.(String(piece));
    };
    child.stdout?.on('data', pass(process.stdout));
    child.stderr?.on('data', pass(process.stderr));
    child.once('error', (error) => {
      clearInterval(beat);
      reject(error.code === 'ENOENT' ? new Failure(`${command} is not installed`, `install ${command} and put it into PATH`) : error);
    });
    child.once('close', (code, signal) => {
      clearInterval(beat);
      // What a quiet program said matters once it has failed.
      if (quiet && code !== 0) process.stderr.write(`\n${beaten}`);
      resolve(code ?? (signal ? 1 : 0));
    });
  });
}

export async function mustRun(command, args, options = {}) {
  const code = await run(command, args, options);
  if (code !== 0) throw new Failure(`${command} ${args.join(' ')} ended with ${code}`, options.remedy ?? `run it alone${options.cwd ? ` in ${options.cwd}` : ''} to see more`);
}

/** Output of a short program, trimmed; undefined if it cannot be run or fails. */
export function ask(command, args, options = {}) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return status === 0 ? stdout.trim() : undefined;
}

/** A hash over files and folders, for knowing what is fresh. What does not exist counts as such. */
export function fingerprint(paths, extra = []) {
  const hash = createHash('sha256');
  for (const part of extra) hash.update(`${part}\0`);
  const visit = (path) => {
    if (!existsSync(path)) {
      hash.update(`${path} absent\0`);
    } else if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) if (!['node_modules', 'dist', 'target'].includes(name)) visit(join(path, name));
    } else {
      hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
    }
  };
  for (const path of paths) visit(path);
  return hash.digest('hex');
}

/** Runs a script's main function and turns its failure into words and an exit code. */
export async function main(work) {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    say('');
    say(`failed: ${error instanceof Failure ? error.message : (error.stack ?? error)}`);
    if (error.remedy) say(`remedy: ${error.remedy}`);
    process.exitCode = 1;
  }
}
