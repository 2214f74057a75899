/**
 * npm run demo: sets the project up, then does the main job with the real model of examples/digits, every command as a
 * person would type it. Works in a temporary folder with a store and a registry of its own, and leaves nothing behind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run, setUp } from './setup.mjs';

/** `HOST` stands for the registry's address, which is any free port. */
const steps = [
  ['Pack a folder with a trained model into the local store', 'pack ./digits -t demo/digits:v1'],
  ['Say what it is, from the headers of its weights', 'inspect demo/digits:v1'],
  ['Hold it against the specification', 'validate demo/digits:v1'],
  ['Push it to a registry', 'push demo/digits:v1 HOST/demo/digits:v1'],
  ['Push the folder as it is: nothing has to be sent twice', 'push ./digits HOST/team/digits:latest'],
  ['See what the registry has', 'list HOST'],
  ['Pull the files on what could be another machine', 'pull HOST/team/digits:latest -o ./pulled'],
  ['Verify every byte that the registry holds against its digest', 'verify --remote HOST/demo/digits:v1'],
  ['Take it along as one file that skopeo, podman and oras read', 'copy HOST/demo/digits:v1 oci-archive:digits.tar:v1'],
  ['Unpack that', 'unpack digits.tar -o ./unpacked'],
  ['Ask whether folder and file differ', 'diff demo/digits:v1 digits.tar'],
  ['Make the same model a carton, with inputs, outputs and self tests', 'pack ./carton --format carton -o digits.carton'],
  ['Say how it is called', 'inspect digits.carton'],
  ['Verify every file of it against its list of hashes', 'verify digits.carton'],
  ['Push it, a layer a file', 'push digits.carton HOST/demo/digits:carton'],
  ['Pull it as the file that it was', 'pull HOST/demo/digits:carton -o pulled.carton'],
];

const serving = 'registry serve --tmp --listen 127.0.0.1:0';

function heading(number, text) {
  console.log(`\n${number}. ${text}`);
}

function toEnvironment(work) {
  return { ...process.env, MODELPORT_HOME: join(work, 'store') };
}

/** Starts the registry that comes with modelport, and waits for the line that says where it listens. */
async function startRegistry(work) {
  const child = spawn(process.execPath, [join(root, 'dist/cli.js'), ...serving.split(' ')], {
    cwd: work,
    env: toEnvironment(work),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), ended.then(([status]) => [`exit status ${status}`])]);
  const host = /http:\/\/(\S+)/.exec(line)?.[1];
  if (host === undefined) throw new Error(`modelport ${serving}: ${line}`);
  process.once('exit', () => child.kill());
  console.log(line.trim());
  const stop = async () => {
    child.kill('SIGTERM');
    const [status] = await ended;
    if (status !== 0) throw new Error(`modelport ${serving}: exit status ${status}`);
  };
  return { host, stop };
}

function runStep([title, text], index, work, host) {
  const line = text.replaceAll('HOST', host);
  heading(index + 2, title);
  console.log(`$ modelport ${line}`);
  const status = run(process.execPath, [join(root, 'dist/cli.js'), ...line.split(' ')], { cwd: work, env: toEnvironment(work) });
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

function compareFiles(folder, before, after) {
  if (!readFileSync(join(folder, before)).equals(readFileSync(join(folder, after)))) throw new Error(`"${before}" came back with other bytes`);
  console.log(`same bytes  ${before}`);
}

async function demo(work) {
  cpSync(join(root, 'examples/digits'), join(work, 'digits'), { recursive: true });
  cpSync(join(root, 'examples/cartons/onnx'), join(work, 'carton'), { recursive: true });
  heading(1, 'Start a registry of your own');
  console.log(`$ modelport ${serving}`);
  const registry = await startRegistry(work);
  steps.forEach((step, index) => runStep(step, index, work, registry.host));
  heading(steps.length + 2, 'Compare what went in with what came out');
  compareFolders(join(work, 'digits'), join(work, 'pulled'));
  compareFolders(join(work, 'digits'), join(work, 'unpacked'));
  compareFiles(work, 'digits.carton', 'pulled.carton');
  await registry.stop();
}

setUp();
const work = mkdtempSync(join(tmpdir(), 'modelport-demo-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
console.log('modelport demo: copies of examples/digits and examples/cartons/onnx, and an empty store, in a temporary folder');
try {
  await demo(work);
  console.log('\nDone: packed, checked, pushed, pulled, moved and unpacked without losing a byte.');
} catch (error) {
  console.error(`\nThe demo failed: ${error.message}`);
  process.exitCode = 1;
}
