/** What of a value is searched: a line of text a field. */
import { invalid } from '../../errors.js';

/** The texts at the paths, joined. A path is `$`, or names joined by dots, with `[2]`, `[-1]`, `[*]` and `*`. */
export function textOf(value: unknown, paths: readonly string[]): string {
  return paths.flatMap((path) => at(value, path)).join('\n');
}

function at(value: unknown, path: string): string[] {
  let found: unknown[] = [value];
  for (const step of steps(path)) found = found.flatMap((each) => children(each, step));
  return found.flatMap((each) => lines(each, ''));
}

function steps(path: string): string[] {
  if (path === '$' || path === '') return [];
  if (/[{}]/.test(path)) throw invalid(`the path ${path} lists fields in braces, which are not read: give a path for each field`);
  return path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
}

function children(value: unknown, step: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === '*') return Object.values(value);
  if (!step.startsWith('[')) return Object.hasOwn(value, step) ? [(value as { [key: string]: unknown })[step]] : [];
  if (!Array.isArray(value)) return [];
  return step === '[*]' ? value : [value.at(Number.parseInt(step.slice(1), 10))];
}

/** `title: Annual report`: names say what a text is about, braces and quotes say nothing. */
function lines(value: unknown, name: string): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => lines(item, name));
  if (typeof value === 'object') return Object.entries(value).flatMap(([key, item]) => lines(item, name === '' ? key : `${name} ${key}`));
  return [name === '' ? String(value) : `${name}: ${String(value)}`];
}
