/**
 * npm run demo: sets the project up, then does the main job with the real model of examples/digits, every command as a
 * person would type it. Works in a temporary folder with a store of its own, and leaves nothing behind.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run, setUp } from './setup.mjs';

const steps = [
  ['Pack a folder with a trained model into the local store', 'pack ./digits -t demo/digits:v1'],
  ['Say what it is, from the headers of its weights', 'inspect demo/digits:v1'],
  ['Hold it against the specification', 'validate demo/digits:v1'],
  ['Copy it to a file that skopeo, podman and oras read', 'copy demo/digits:v1 oci-archive:digits.tar:v1'],
  ['Copy it back under another name', 'copy oci-archive:digits.tar:v1 demo/digits:back'],
  ['Verify every byte against its digest', 'verify demo/digits:back'],
  ['Unpack it', 'unpack demo/digits:back -o ./unpacked'],
  ['Ask whether the two packages differ', 'diff demo/digits:v1 demo/digits:back'],
];

function heading(number, text) {
  console.log(`\n${number}. ${text}`);
}

function runStep([title, line], index, work) {
  heading(index + 1, title);
  console.log(`$ modelport ${line}`);
  const env = { ...process.env, MODELPORT_HOME: join(work, 'store') };
  const status = run(process.execPath, [join(root, 'dist/cli.js'), ...line.split(' ')], { cwd: work, env });
  if (status !== 0) throw new Error(`modelport ${line}: exit status ${status}`);
}

/** Compares without modelport, so that its word is not taken for it. */
function compareFolders(before, after) {
  // The description is what the package was made from, not a part of it.
  const names = readdirSync(before)
    .filter((name) => name !== 'modelport.toml')
    .sort();
  const unpacked = readdirSync(after).sort();
  if (names.join() !== unpacked.join()) throw new Error(`Packed ${names.join(', ')}; unpacked ${unpacked.join(', ')}`);
  for (const name of names) {
    if (!readFileSync(join(before, name)).equals(readFileSync(join(after, name)))) throw new Error(`"${name}" came back with other bytes`);
    console.log(`same bytes  ${name}`);
  }
}

function demo(work) {
  cpSync(join(root, 'examples/digits'), join(work, 'digits'), { recursive: true });
  steps.forEach((step, index) => runStep(step, index, work));
  heading(steps.length + 1, 'Compare what went in with what came out');
  compareFolders(join(work, 'digits'), join(work, 'unpacked'));
}

setUp();
const work = mkdtempSync(join(tmpdir(), 'modelport-demo-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
console.log('modelport demo: a copy of examples/digits and an empty store, in a temporary folder');
try {
  demo(work);
  console.log('\nDone: packed, checked, moved and unpacked without losing a byte.');
} catch (error) {
  console.error(`\nThe demo failed: ${error.message}`);
  process.exitCode = 1;
}
