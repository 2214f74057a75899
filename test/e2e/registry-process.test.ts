/** The program as a process: it ends by itself when its work is done, whatever the registry keeps open. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliEnded, finishCli, runCli, startCli } from '../support/cli-process.js';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';

let bench: RegistryBench;
beforeAll(async () => {
  bench = await createRegistryBench({ auth: { kind: 'basic', user: 'ci', password: 'word' } });
});
afterAll(() => bench.end());

const env = () => ({ DOCKER_CONFIG: bench.path('docker') });
const run = (...args: string[]): Promise<CliEnded> => runCli(args, { home: bench.home, cwd: bench.base, env: env() });

it('login by standard input, push, list, pull, logout', async () => {
  const child = startCli(['login', bench.registry.host, '-u', 'ci', '--password-stdin'], { home: bench.home, cwd: bench.base, env: env() }, 'pipe');
  child.stdin?.end('word\n');
  expect(await finishCli(child)).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in') });
  expect(await run('push', './tiny', bench.name)).toMatchObject({ code: 0, signal: null });
  expect(await run('list', bench.registry.host)).toMatchObject({ code: 0, stdout: 'tiny\n' });
  expect(await run('pull', bench.name, '-o', 'out')).toMatchObject({ code: 0 });
  expect(await run('cat', bench.name, 'README.md')).toMatchObject({ code: 0, stdout: '# Tiny\n' });
  expect(await run('logout', bench.registry.host)).toMatchObject({ code: 0 });
  expect(await run('pull', bench.name)).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/modelport login/) });
});
