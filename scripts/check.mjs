/**
 * npm run check: everything that must hold before a commit. All steps run, so that one call shows every breach.
 *
 *   npm run check                        all steps
 *   npm run check -- lint arrows         these steps
 *   npm run check -- --except unit       all but these
 *   npm run check -- --results FILE      writes {passed, failed} for .ci/run
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ensureInstalled, root } from './setup.mjs';

const bin = (name, file) => [`node_modules/${name}/${file}`];
const vitest = [...bin('vitest', 'vitest.mjs'), 'run', '--reporter=dot'];

/** Each is a script for Node, run in the project's root. */
const steps = {
  format: [...bin('oxfmt', 'bin/oxfmt'), '--check'],
  lint: [...bin('oxlint', 'bin/oxlint'), '--deny-warnings'],
  types: [...bin('typescript7', 'bin/tsc'), '-p', '.'],
  arrows: ['scripts/check-arrows.mjs'],
  docs: ['scripts/run-ts.mjs', 'scripts/generate-docs.ts', '--check'],
  unused: [...bin('knip', 'bin/knip.js'), '--no-progress'],
  layout: [...vitest, 'test/layout.test.ts'],
  build: ['scripts/build.mjs'],
  package: [...bin('publint', 'src/cli.js'), '--strict'],
  exports: [...bin('@arethetypeswrong/cli', 'dist/index.js'), '--pack', '.', '--profile', 'esm-only'],
  unit: vitest,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { except: { type: 'string', multiple: true, default: [] }, results: { type: 'string' } },
});
const unknown = [...positionals, ...values.except].filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`Cannot check "${unknown[0]}": the steps are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

ensureInstalled();
const chosen = Object.keys(steps).filter((name) => (positionals.length === 0 || positionals.includes(name)) && !values.except.includes(name));
const outcomes = chosen.map((name) => {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, steps[name], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(8)} ${seconds.padStart(5)} s`);
  if (status !== 0) console.log(`${stdout}${stderr}`.replace(/^/gm, '      '));
  return { name, passed: status === 0 };
});

const failed = outcomes.filter(({ passed }) => !passed);
if (failed.length > 0) console.log(`Failed: ${failed.map(({ name }) => name).join(', ')}`);
if (values.results !== undefined) writeFileSync(values.results, JSON.stringify({ passed: outcomes.length - failed.length, failed: failed.length }));
process.exit(failed.length === 0 ? 0 : 1);
