/** Runs a TypeScript file of the project: node scripts/run-ts.mjs FILE [ARGUMENT]… */
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { readJson, root } from './setup.mjs';

const [file, ...args] = process.argv.slice(2);
const folder = join(root, 'node_modules/.cache/modelport');
const bundle = join(folder, `${basename(file, '.ts')}-${process.pid}.mjs`);

mkdirSync(folder, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: [file],
  outfile: bundle,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  define: { MODELPORT_VERSION: JSON.stringify(readJson('package.json').version) },
  sourcemap: 'inline',
  logLevel: 'warning',
});
process.argv = [process.execPath, file, ...args];
try {
  await import(pathToFileURL(bundle).href);
} finally {
  rmSync(bundle);
}
