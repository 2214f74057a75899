/** What holds for every room, every format and every file: the shape that a stranger may rely on. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const rooms = ['buildfile', 'bytes', 'cli', 'core', 'formats', 'http', 'oci', 'ops', 'registry', 'runtimes', 'store', 'tensors', 'text', 'weights'];

/** Formats that modelport writes; one that it only reads has no write.ts. */
const writers = ['carton', 'modelpack'];

const codeFolders = ['bench', 'scripts', 'src', 'test'];
const neverEntered = new Set(['.git', '.cache', 'coverage', 'dist', 'node_modules']);
const self = 'test/layout.test.ts';

function listFiles(folder = root): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !neverEntered.has(name));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [relative(root, path)];
  });
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const listFolders = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

const files = listFiles();
const code = files.filter((file) => codeFolders.includes(file.split('/')[0] ?? '') && /\.(ts|mjs)$/.test(file));
const pages = files.filter((file) => file.endsWith('.md'));
const texts = files.filter((file) => /\.(ts|mjs|json|md|toml|sh|py)$|^\.ci\//.test(file) && file !== self);

/** The files with a line that matches, as `file:line: text`. */
function findLines(among: readonly string[], pattern: RegExp): string[] {
  return among.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
}

describe('rooms', () => {
  it('are the known ones', () => {
    expect(listFolders('src').sort()).toEqual(rooms);
  });

  it.each(rooms.flatMap((room) => (room === 'registry' ? ['registry/client', 'registry/server'] : room)))('%s opens with what it is for', (room) => {
    expect(read(`src/${room}/index.ts`)).toMatch(new RegExp(`^/\\*\\*\\n \\* ${room}: `));
  });
});

describe.each(listFolders('src/formats'))('format %s', (id) => {
  const parts = ['index', 'spec', 'detect', 'read', ...(writers.includes(id) ? ['write'] : []), 'validate'];

  it.each(parts)('has %s.ts', (part) => {
    expect(files).toContain(`src/formats/${id}/${part}.ts`);
  });

  it.each(parts.filter((part) => !['index', 'spec'].includes(part)))('tests %s.ts', (part) => {
    expect(files).toContain(`src/formats/${id}/${part}.test.ts`);
  });

  it('is in the list, has a page and fixtures', () => {
    expect(read('src/formats/index.ts')).toContain(`'./${id}/index.js'`);
    expect(files).toContain(`docs/formats/${id}.md`);
    expect(existsSync(join(root, 'test/fixtures', id))).toBe(true);
  });
});

describe('files', () => {
  it('are named in kebab-case', () => {
    const name = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.config)?\.(ts|mjs)$/;
    expect(code.filter((file) => !name.test(basename(file)))).toEqual([]);
  });

  it('lie in no folder that is named after nothing', () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc|shared|lib)\//.test(file))).toEqual([]);
  });

  it('are at most 400 lines long', () => {
    expect(code.filter((file) => read(file).split('\n').length > 401)).toEqual([]);
  });

  it('leave no work and no test behind', () => {
    expect(
      findLines(
        code.filter((file) => file !== self),
        /\b(TODO|FIXME|XXX|HACK)\b|\b(it|test|describe)\b.*\.(skip|only|todo|skipIf|runIf)\b/,
      ),
    ).toEqual([]);
  });

  it('name no place of one machine and no host that packages come from', () => {
    expect(findLines(texts, /(?<![\w.}])\/(root|work|Users)\/[\w.]|https?:\/\/(registry|proxy|index|mirror|deb|pypi|files)\b/)).toEqual([]);
  });
});

describe('pages', () => {
  it('link to what exists', () => {
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target]) => ({ page, target: join(dirname(page), target ?? '') })),
    );
    expect(links.filter(({ target }) => !existsSync(join(root, target)))).toEqual([]);
  });

  it('give every dependency a row, and no row to what is none', () => {
    const rows = read('docs/dependencies.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.sort()).toEqual(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).sort());
  });
});

describe('the lock file', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { optionalDependencies?: Record<string, string> }> };

  it('names no host', () => {
    expect(findLines(['package-lock.json'], /"resolved"/)).toEqual([]);
  });

  it('holds the builds for every system, or npm ci refuses it; mended by: npm run lock', () => {
    const wanted = Object.entries(packages).flatMap(([parent, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {}).map((name) => ({ name, places: [`node_modules/${name}`, `${parent}/node_modules/${name}`] })),
    );
    expect(wanted.filter(({ places }) => !places.some((place) => place in packages))).toEqual([]);
  });
});
