/** What goes wrong between here and a registry: each has its status, its name, and what to do next. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import type { Behaviour } from '../support/registry/behaviour.js';
import { listen, type Listening } from '../support/registry/listen.js';

let bench: RegistryBench;
let host: string;
let name: string;
let page: Listening;
/** Where nothing listens any more. */
let closed: string;
beforeAll(async () => {
  bench = await createRegistryBench();
  ({ name } = bench);
  ({ host } = bench.registry);
  await bench.run('push', './tiny', name);
  page = await listen(
    createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome to the hotel</html>')),
  );
  const gone = await listen(createServer());
  closed = `127.0.0.1:${gone.port}`;
  await gone.close();
});
afterAll(async () => {
  await page.close();
  await bench.end();
});
beforeEach(
  () => void Object.assign(bench.registry.behaviour, { failStatus: undefined, htmlErrors: false, rateLimit: undefined } satisfies Partial<Behaviour>),
);

/** With --json one document, without it lines on stderr; both with the same status, and never a stack. */
async function expectRefusal(args: readonly string[], status: number, code: string, words: RegExp): Promise<void> {
  const { code: ended, document, stderr } = await bench.json(...args);
  expect({ ended, code: document.error['code'], stderr }).toEqual({ ended: status, code, stderr: '' });
  expect([document.error['message'], document.error['hint']].join('\n')).toMatch(words);
  expect(document.error['message']).toMatch(/^Cannot .*[^.]$/);
  const plain = await bench.run(...args);
  expect([plain.code, plain.stdout]).toEqual([status, '']);
  expect(plain.stderr).toMatch(/^modelport: Cannot /);
  expect(plain.stderr).not.toMatch(/\n\s+at /);
}

it.each([
  ['pull', 'no-such-host.invalid/x:v1'],
  ['inspect', 'no-such-host.invalid/x:v1'],
  ['list', 'no-such-host.invalid'],
  ['copy', 'no-such-host.invalid/x:v1', 'x.tar'],
  ['push', './tiny', 'no-such-host.invalid/x:v1'],
])('a host that does not exist: %s %s', async (...args) => {
  await expectRefusal(args, 3, 'registry/unreachable', /no-such-host\.invalid.*\n.*Check the name/);
});

it.each([
  ['pull', () => `${closed}/x:v1`],
  ['list', () => closed],
  ['list', () => `${closed}/x`],
] as const)('a port where nothing listens: %s (%#)', async (verb, place) => {
  await expectRefusal([verb, place()], 3, 'registry/unreachable', /nothing listens/);
});

it.each([
  [() => `${host}/tiny:none`, /no tag "none".*\n.*modelport list 127.*\/tiny/],
  [() => `${host}/none:v1`, /"none"/],
  [() => `${host}/tiny@sha256:${'0'.repeat(64)}`, /sha256:0000/],
] as const)('a package that is not there (%#)', async (text, words) => {
  for (const verb of ['inspect', 'ls', 'verify', 'validate', 'pull']) await expectRefusal([verb, text()], 3, 'registry/not-found', words);
});

it('a registry that does not allow it', async () => {
  bench.registry.behaviour.failStatus = () => 403;
  await expectRefusal(['pull', name], 3, 'registry/denied', /answered 403.*\n.*modelport login/);
  bench.registry.behaviour.failStatus = ({ method }) => (method === 'GET' || method === 'HEAD' ? undefined : 403);
  await expectRefusal(['push', './tiny', `${host}/mine:v1`], 3, 'registry/denied', /answered 403/);
  await expectRefusal(['rm', '--remote', '--yes', name], 3, 'registry/denied', /answered 403/);
});

it('web pages instead of errors', async () => {
  bench.registry.behaviour.htmlErrors = true;
  await expectRefusal(['pull', `${host}/tiny:none`], 3, 'registry/not-found', /no tag "none"/);
  bench.registry.behaviour.failStatus = () => 403;
  await expectRefusal(['inspect', name], 3, 'registry/denied', /not allowed/);
});

it('a web page instead of a registry', async () => {
  const site = `127.0.0.1:${page.port}`;
  for (const args of [
    ['pull', `${site}/x:v1`],
    ['list', `${site}/x`],
    ['list', site],
  ]) {
    const { code, document } = await bench.json(...args);
    expect([code, document.error]).toMatchObject([3, { code: 'registry/bad-answer' }]);
    expect(JSON.stringify(document)).not.toContain('hotel');
  }
});

it('a registry that is busy is asked again', async () => {
  bench.registry.behaviour.rateLimit = { times: 2, retryAfter: '0' };
  expect(await bench.json('pull', name, '-o', 'busy')).toMatchObject({ code: 0 });
});

it('a registry that wants to be left alone for an hour is', async () => {
  bench.registry.behaviour.rateLimit = { times: 1000, retryAfter: '3600' };
  await expectRefusal(['pull', name, '-o', 'never'], 3, 'registry/busy', /3600 s.*\n.*later/);
});

it('a package with a damaged manifest', async () => {
  bench.registry.putManifest('broken', 'v1', '{"schemaVersion": 2, "layers"');
  const { code, document } = await bench.json('inspect', `${host}/broken:v1`);
  expect([code, document.error]).toMatchObject([1, { code: 'core/bad-json', message: expect.stringContaining('broken:v1') }]);
});

it('a file that would be overwritten, or a name that cannot be', async () => {
  await expectRefusal(['copy', name, 'tiny/README.md'], 3, 'bytes/exists', /README\.md/);
  await expectRefusal(['pull', `${host}/UPPER:v1`], 2, 'core/bad-reference', /lower case/);
  await expectRefusal(['pull', `${host}/tiny:-`], 2, 'core/bad-reference', /tiny:-/);
});
