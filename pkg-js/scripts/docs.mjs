/**
 * Writes the API reference into docs/, one page an entry of the package, out of the types in dist/. Ends with 1 if an export
 * has no comment. Comments on members stand in the declaration, as they were written.
 *   npm --prefix pkg-js run docs
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { PACKAGE } from './places.mjs';
import { Failure, main, say } from './steps.mjs';

const DOCS = join(PACKAGE, 'docs');
const parsed = new Map();

/** A file of types: its text, statements and comments. */
function fileOf(path) {
  if (!parsed.has(path)) {
    const text = readFileSync(path, 'utf8');
    const { program, comments, errors } = parseSync(path, text, { lang: 'dts' });
    if (errors.length > 0) throw new Failure(`${path}: ${errors[0].message}`, 'build the package, and see what its types hold');
    parsed.set(path, { path, text, program, comments });
  }
  return parsed.get(path);
}

/** The `/** … *\/` right before a place, without its frame. */
function commentBefore({ text, comments }, place) {
  const comment = comments.find(({ type, value, end }) => type === 'Block' && value.startsWith('*') && end <= place && /^\s*$/.test(text.slice(end, place)));
  return comment && plain(comment.value);
}

const plain = (value) => value.slice(1).split('\n').map((line) => line.replace(/^\s*\* ?/, '').trimEnd()).join('\n').trim();

const namesOf = (declaration) => declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id.name];
const nameOf = (node) => node.name ?? node.value;

/** The exports of a file, by name; each has its declarations, of which a function may have several. */
function exportsOf(path) {
  const file = fileOf(path);
  const found = new Map();
  const add = (name, declarations) => found.set(name, [...(found.get(name) ?? []), ...declarations]);
  for (const node of file.program.body) {
    const from = node.source && typesOf(resolve(dirname(path), node.source.value));
    if (node.type === 'ExportAllDeclaration') {
      if (from) for (const [name, declarations] of exportsOf(from)) add(name, declarations);
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration) {
      for (const name of namesOf(node.declaration)) add(name, [declared(file, node)]);
    } else if (node.type === 'ExportNamedDeclaration') {
      for (const { local, exported } of node.specifiers) {
        // What comes from another package is documented there.
        if (!node.source || from) add(nameOf(exported), from ? (exportsOf(from).get(nameOf(local)) ?? []) : declarationsOf(file, nameOf(local)));
      }
    } else if (node.type === 'ExportDefaultDeclaration') {
      add('default', [declared(file, node)]);
    }
  }
  return found;
}

/** Those of a name that the file exports by a list at its end, or imports. */
function declarationsOf(file, name) {
  const here = file.program.body.filter((node) => node.id?.name === name || node.declarations?.some(({ id }) => id.name === name)).map((node) => declared(file, node));
  if (here.length > 0) return here;
  const imported = file.program.body.find((node) => node.type === 'ImportDeclaration' && node.specifiers.some(({ local }) => local.name === name));
  const from = imported && typesOf(resolve(dirname(file.path), imported.source.value));
  return from ? (exportsOf(from).get(name) ?? []) : [];
}

const declared = (file, node) => ({ comment: commentBefore(file, node.start), code: file.text.slice(node.start, node.end) });

/** The file of types for an address as the sources write it; undefined for another package's. */
const typesOf = (path) => [path.replace(/\.js$/, '.d.ts'), `${path}.d.ts`].find(existsSync);

/** An entry that is another one under a second name. */
function aliasOf(path) {
  const { program } = fileOf(path);
  const [only] = program.body;
  return program.body.length === 1 && only.type === 'ExportAllDeclaration' ? typesOf(resolve(dirname(path), only.source.value)) : undefined;
}

function pageOf(name, path, entries, missing) {
  const { comments } = fileOf(path);
  if (exportsOf(path).size === 0) return `# ${name}\n\nA script. It exports nothing.\n`;
  const about = comments[0]?.type === 'Block' ? plain(comments[0].value) : '';
  if (about === '') missing.push(`${name} (the entry's own comment)`);
  const alias = entries.find(([, other]) => other === aliasOf(path));
  if (alias) return `# ${name}\n\n${about}\n\nIts exports are those of [${alias[0]}](${fileNameOf(alias[0])}).\n`;
  const sections = [...exportsOf(path)].map(([exported, declarations]) => {
    if (declarations.length === 0) throw new Failure(`${name} exports ${exported}, which is declared nowhere`, 'see what scripts/docs.mjs does not follow');
    const comment = declarations.find((declaration) => declaration.comment)?.comment;
    if (!comment) missing.push(`${exported} of ${name}`);
    return `## ${exported}\n\n${comment ?? ''}\n\n\`\`\`ts\n${declarations.map(({ code }) => code).join('\n')}\n\`\`\`\n`;
  });
  return [`# ${name}\n\n${about}\n`, ...sections].join('\n');
}

const fileNameOf = (name) => `${name.replaceAll('/', '-')}.md`;

await main(() => {
  const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const entries = Object.entries(exports).filter(([, entry]) => entry.types).map(([name, { types }]) => [`memstrata${name.slice(1)}`, join(PACKAGE, types)]);
  const missing = [];
  rmSync(DOCS, { recursive: true, force: true });
  mkdirSync(DOCS);
  for (const [name, path] of entries) {
    if (!existsSync(path)) throw new Failure(`${path} is not there`, 'run: npm --prefix pkg-js run build');
    writeFileSync(join(DOCS, fileNameOf(name)), pageOf(name, path, entries, missing));
  }
  writeFileSync(join(DOCS, 'index.md'), `# memstrata\n\n${entries.map(([name]) => `- [${name}](${fileNameOf(name)})`).join('\n')}\n`);
  if (missing.length > 0) throw new Failure(`no comment on ${missing.join(', ')}`, 'write what it is, its unit, range, default and errors, right before it');
  say(`  ${entries.length} entries, in ${DOCS}`);
});
