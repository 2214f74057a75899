/** The far sides themselves: the tools find nothing odd about the test registry, and Docker's registry takes what the support makes for it. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Behaviour } from '../../support/registry/behaviour.js';
import { startTestRegistry, type TestRegistry, type TestRegistryOptions } from '../../support/registry/test-registry.js';
import { startTokenServer } from '../../support/registry/token-server.js';
import { makeTokenSigner } from './certificates.js';
import { makeFolder, removeFolder, sha256 } from './folders.js';
import { mustBeside, runBeside, startDockerRegistry } from './registry.js';
import { findTool, type Tool } from './tools.js';

const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function createScratch(): string {
  const folder = makeFolder();
  closers.push(() => removeFolder(folder));
  return folder;
}

async function startRegistry(behaviour: Partial<Behaviour> = {}, options: TestRegistryOptions = {}): Promise<TestRegistry> {
  const registry = await startTestRegistry({ behaviour, ...options });
  closers.push(() => registry.close());
  return registry;
}

const must = (tool: Tool, args: readonly string[], folder: string) =>
  mustBeside(findTool(tool), args, { cwd: folder, env: { HOME: folder, DOCKER_CONFIG: join(folder, '.docker') } });

const logIn = (folder: string, host: string, user: string, password: string) => {
  mkdirSync(join(folder, '.docker'), { recursive: true });
  const auths = { [host]: { auth: Buffer.from(`${user}:${password}`).toString('base64') } };
  writeFileSync(join(folder, '.docker/config.json'), JSON.stringify({ auths }));
};

const weights = randomBytes(9_000_001);

describe('the test registry', () => {
  it.each<readonly [string, Partial<Behaviour>]>([
    ['as it should be', {}],
    ['with odd locations', { relativeLocation: true, locationWithQuery: true }],
    ['with storage elsewhere and short pages', { blobRedirect: 'storage', tagsPageSize: 1 }],
    ['without referrers and mounts', { referrers: false, acceptsMount: false }],
  ])('serves oras %s', async (_, behaviour) => {
    const folder = createScratch();
    const registry = await startRegistry(behaviour);
    const name = `${registry.host}/models/a:v1`;
    writeFileSync(join(folder, 'weights.bin'), weights);
    writeFileSync(join(folder, 'sbom.json'), '{}');
    await must('oras', ['push', '--plain-http', name, '--artifact-type', 'text/x-model', 'weights.bin:text/x-weights'], folder);
    await must('oras', ['attach', '--plain-http', name, '--artifact-type', 'text/x-sbom', 'sbom.json:text/x-sbom'], folder);
    expect(await must('oras', ['discover', '--plain-http', name], folder)).toContain('text/x-sbom');
    await must('oras', ['cp', '--from-plain-http', '--to-plain-http', name, `${registry.host}/models/b:v1,v2`], folder);
    expect((await must('oras', ['repo', 'tags', '--plain-http', `${registry.host}/models/b`], folder)).trim().split('\n')).toEqual(['v1', 'v2']);
    expect((await must('oras', ['repo', 'ls', '--plain-http', registry.host], folder)).trim().split('\n')).toEqual(['models/a', 'models/b']);
    await must('oras', ['pull', '--plain-http', `${registry.host}/models/b:v2`, '-o', 'out'], folder);
    expect(readFileSync(join(folder, 'out/weights.bin')).equals(weights)).toBe(true);
    await must('oras', ['manifest', 'delete', '--plain-http', '--force', `${registry.host}/models/b:v2`], folder);
    expect(registry.count('DELETE', '/manifests/')).toBe(1);
    expect([registry.mishaps, registry.uploads()]).toEqual([[], []]);
  });

  it.each(['none', 'token'] as const)('serves crane, authorization: %s', async (kind) => {
    const folder = createScratch();
    const server = await startTokenServer({ users: { me: 'pw' } });
    closers.push(() => server.close());
    const registry = await startRegistry({}, { auth: kind === 'none' ? { kind } : { kind, server } });
    if (kind === 'token') logIn(folder, registry.host, 'me', 'pw');
    writeFileSync(join(folder, 'file'), 'hello');
    await must('tar', ['-cf', 'layer.tar', 'file'], folder);
    await must('crane', ['append', '--insecure', '-f', 'layer.tar', '-t', `${registry.host}/one:v1`], folder);
    await must('crane', ['cp', '--insecure', `${registry.host}/one:v1`, `${registry.host}/two:v1`], folder);
    await must('crane', ['validate', '--insecure', '--remote', `${registry.host}/two:v1`], folder);
    expect(registry.manifests().map(({ repository, tags }) => [repository, tags])).toEqual([
      ['one', ['v1']],
      ['two', ['v1']],
    ]);
    expect(registry.mishaps).toEqual([]);
    expect(registry.log.filter(({ status }) => status === 401).length > 0).toBe(kind === 'token');
  });
});

describe("Docker's registry", () => {
  it('answers over TLS to whom it knows, and leaves nothing behind', async () => {
    const registry = await startDockerRegistry({ tls: true, auth: { kind: 'htpasswd', user: 'me', password: 'p:w' } });
    closers.push(() => registry.close());
    const args = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', registry.caFile ?? ''];
    expect(await mustBeside(findTool('curl'), [...args, `${registry.url}/v2/`])).toBe('401');
    expect(await mustBeside(findTool('curl'), [...args, '-u', 'me:p:w', `${registry.url}/v2/`])).toBe('200');
    expect((await runBeside(findTool('curl'), ['-sS', `${registry.url}/v2/`])).code).toBe(60);
    await registry.close();
    expect(existsSync(registry.folder)).toBe(false);
  });

  it.each(['RS256', 'ES256'] as const)('takes tokens signed with %s', async (algorithm) => {
    const folder = createScratch();
    const { signer, certFile } = makeTokenSigner(folder, algorithm);
    const server = await startTokenServer({ users: { me: 'pw' }, signer });
    closers.push(() => server.close());
    const registry = await startDockerRegistry({ auth: { kind: 'token', server, certFile } });
    closers.push(() => registry.close());
    const name = `${registry.host}/models/a:v1`;
    writeFileSync(join(folder, 'weights.bin'), weights);
    expect((await runBeside(findTool('oras'), ['push', '--plain-http', name, 'weights.bin'], { cwd: folder, env: { HOME: folder } })).code).not.toBe(
      0,
    );
    logIn(folder, registry.host, 'me', 'pw');
    await must('oras', ['push', '--plain-http', name, 'weights.bin'], folder);
    await must('oras', ['pull', '--plain-http', name, '-o', 'out'], folder);
    expect(sha256(readFileSync(join(folder, 'out/weights.bin')))).toBe(sha256(weights));
    expect(server.requests.at(-1)).toMatchObject({ user: 'me', status: 200 });
  });
});
