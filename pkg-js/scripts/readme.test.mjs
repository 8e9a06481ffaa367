/** What the README imports must be there; the built package is looked into. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE } from './places.mjs';

const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
const imports = [...readme.matchAll(/import \{([^}]+)\} from '(memstrata[^']*)'/g)].map(([, names, from]) => [from, names.split(',').map((name) => name.trim())]);

test('every name that an example imports is exported where it says', async () => {
  expect(imports.length).toBeGreaterThanOrEqual(8);
  for (const [from, names] of imports) {
    const entry = exports[from.replace('memstrata', '.')];
    expect(entry, from).toBeDefined();
    const module = await import(join(PACKAGE, entry.default));
    for (const name of names) expect(Object.keys(module), `${name} of ${from}`).toContain(name);
  }
});

test('every entry has its script and its types, and stands in the table', () => {
  const table = readme.slice(readme.indexOf('## The package'), readme.indexOf('## Providers'));
  for (const [name, entry] of Object.entries(exports)) {
    if (!entry.default?.endsWith('.js')) continue;
    for (const file of Object.values(entry)) expect(existsSync(join(PACKAGE, file)), file).toBe(true);
    expect(table, name).toContain(name === '.' ? '`memstrata`' : `${name.startsWith('./providers/') ? name.slice('./providers'.length) : name.slice(1)}\``);
  }
});
