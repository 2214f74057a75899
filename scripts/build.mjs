/**
 * Builds dist/: one bundle for every entry point, shared code in chunks beside them, declarations in dist/types.
 *
 * What package.json lists under `dependencies` stays outside the bundles and is loaded when it is needed; everything else
 * that src imports is bundled, because a quick start opens few files.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hashInputs, listFiles, readJson, root, stampFile } from './setup.mjs';

/** The command line, every subpath that package.json exports, and every file called *-worker.ts (the start of a thread). */
function listEntryPoints(manifest = readJson('package.json')) {
  const exported = Object.values(manifest.exports).filter((target) => target.types !== undefined);
  const sources = exported.map(({ types, default: bundle }) => [
    basename(bundle, '.js'),
    types.replace('./dist/types/', 'src/').replace('.d.ts', '.ts'),
  ]);
  const workers = listFiles('src').filter((file) => file.endsWith('-worker.ts'));
  return Object.fromEntries([['cli', 'src/cli/main.ts'], ...sources, ...workers.map((file) => [basename(file, '.ts'), file])]);
}

/** CommonJS packages ask for Node's own modules by require(), which does not exist in a bundle of ES modules. */
const builtinsForCommonJs = {
  name: 'builtins-for-commonjs',
  setup(build) {
    const filter = new RegExp(`^(node:)?(${builtinModules.join('|')})$`);
    build.onResolve({ filter }, ({ path, kind }) => (kind === 'require-call' ? { path, namespace: 'builtin' } : { path, external: true }));
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: `module.exports = process.getBuiltinModule('${path}')` }));
  },
};

async function writeBundles(manifest) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: listEntryPoints(manifest),
    outdir: 'dist',
    bundle: true,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys(manifest.dependencies),
    define: { MODELPORT_VERSION: JSON.stringify(manifest.version) },
    plugins: [builtinsForCommonJs],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

/** Bundled packages keep their licence texts, as those licences ask. */
function writeLicences(metafile) {
  const names = Object.keys(metafile.inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const texts = [...new Set(names)].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`Cannot bundle "${name}": it has no licence file`);
    const { version, license } = readJson(join('node_modules', name, 'package.json'));
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  writeFileSync(join(root, 'dist/third-party-licences.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** What runtimes start in an interpreter, by its name alone beside the bundles, where import.meta.url points to. */
function copyPython() {
  const files = listFiles('src').filter((file) => file.endsWith('.py'));
  const names = files.map((file) => basename(file));
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`Cannot copy "${twice}": two files have this name`);
  for (const file of files) copyFileSync(join(root, file), join(root, 'dist', basename(file)));
  const stale = readdirSync(join(root, 'dist')).filter((file) => file.endsWith('.py') && !names.includes(file));
  for (const file of stale) rmSync(join(root, 'dist', file));
}

/** Chunks of earlier builds go once the new ones stand, so that a build never leaves a gap. */
function removeStale(metafile) {
  const current = new Set(Object.keys(metafile.outputs));
  const stale = readdirSync(join(root, 'dist')).filter((file) => file.endsWith('.js') && !current.has(`dist/${file}`));
  for (const file of stale) rmSync(join(root, 'dist', file));
}

function declare() {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('Cannot write the declarations: the compiler found errors');
}

async function buildAll() {
  const manifest = readJson('package.json');
  const inputs = hashInputs();
  rmSync(stampFile, { force: true });
  const metafile = await writeBundles(manifest);
  removeStale(metafile);
  copyPython();
  writeLicences(metafile);
  chmodSync(join(root, manifest.bin.modelport), 0o755);
  rmSync(join(root, 'dist/types'), { recursive: true, force: true });
  declare();
  writeFileSync(stampFile, inputs);
  return Object.entries(metafile.outputs).map(([file, { bytes }]) => ({ file: relative('dist', file), bytes }));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const outputs = await buildAll();
    for (const { file, bytes } of outputs) console.log(`${String(Math.ceil(bytes / 1024)).padStart(6)} KiB  dist/${file}`);
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
