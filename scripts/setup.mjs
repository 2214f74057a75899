/**
 * What a fresh clone needs before anything can run: packages as package-lock.json says and dist/ as src says.
 * Uses Node alone, because it runs before the first package is installed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Holds the hash of what dist/ was built from. */
export const stampFile = join(root, 'dist/.built-from');

export function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/** Every file below a folder of the project, as sorted paths from its root. */
export function listFiles(folder) {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

export function hashInputs() {
  const sources = listFiles('src').filter((file) => !file.endsWith('.test.ts'));
  const hash = createHash('sha256');
  for (const file of [...sources, 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs']) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** npm keeps a copy of the lock file beside what it installed; optional packages may be absent from it. */
function isInstalled() {
  const installedLock = 'node_modules/.package-lock.json';
  if (!existsSync(join(root, installedLock))) return false;
  const installed = readJson(installedLock).packages;
  const wanted = Object.entries(readJson('package-lock.json').packages).filter(([path, entry]) => path !== '' && !entry.optional);
  return wanted.every(([path, entry]) => installed[path]?.version === entry.version);
}

function isBuilt() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hashInputs();
}

/** Runs a program in the project's root with the terminal handed through; returns its exit status. */
export function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (error !== undefined) throw error;
  return status ?? 1;
}

function runNpm(args) {
  const npm = process.env.npm_execpath;
  return npm?.endsWith('.js') ? run(process.execPath, [npm, ...args]) : run('npm', args, { shell: process.platform === 'win32' });
}

function must(title, status) {
  if (status === 0) return;
  console.error(`Cannot go on: ${title} failed with exit status ${status}`);
  process.exit(status);
}

/** Installs the packages if they are missing or stale, and says so. */
export function ensureInstalled() {
  if (isInstalled()) return;
  console.error('Installing packages (npm ci)');
  must('npm ci', runNpm(['ci', '--no-audit', '--no-fund']));
}

/** Builds dist/ if it is missing or stale, and says so. */
export function ensureBuilt() {
  if (isBuilt()) return;
  console.error('Building dist/ (npm run build)');
  must('the build', run(process.execPath, ['scripts/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] }));
}

export function setUp() {
  ensureInstalled();
  ensureBuilt();
}
