import { beforeEach, describe, expect, it } from 'vitest';
import { askOf, type AskRegistry, manifestType, pushPackage, sha256 } from '../../../test/support/ask-registry.js';
import { type BlobSource, type ByteStream, createError, type Finding, type RegistryStore } from '../../core/index.js';
import { createMemoryRegistryStore } from '../../store/index.js';
import { createRegistry } from './registry.js';
import type { Upstream } from './upstream.js';

/** Another registry, and what was asked of it. */
interface FarSide extends Upstream {
  readonly ask: AskRegistry;
  readonly asked: string[];
  isDown: boolean;
  /** Changes what its blobs give. */
  damage: ((bytes: Uint8Array) => Uint8Array) | undefined;
  /** Blobs wait for it. */
  gate: Promise<void>;
}

function createFarSide(): FarSide {
  const ask = askOf(createRegistry({ store: createMemoryRegistryStore() }));
  const asked: string[] = [];
  const reach = async (what: string) => {
    asked.push(what);
    if (far.isDown) throw createError('registry/unreachable', { message: 'Cannot reach far.example' });
  };
  const head = async (target: string) => {
    const { status, headers } = await ask('HEAD', target);
    const mediaType = headers['content-type'] ?? '';
    return status === 200
      ? { mediaType, digest: headers['docker-content-digest'] as `sha256:${string}`, size: Number(headers['content-length']) }
      : undefined;
  };
  const far: FarSide = {
    ask,
    asked,
    isDown: false,
    damage: undefined,
    gate: Promise.resolve(),
    host: 'far.example',
    resolve: async (repository, reference) => {
      await reach(`resolve ${reference}`);
      return head(`/v2/${repository}/manifests/${reference}`);
    },
    findBlob: async (repository, digest) => {
      await reach(`find ${digest}`);
      return head(`/v2/${repository}/blobs/${digest}`);
    },
    blobs: (repository): BlobSource => ({
      has: async () => true,
      open: async ({ mediaType, digest }, range): Promise<ByteStream> => {
        await reach(`open ${digest}`);
        await far.gate;
        const { bytes } = await ask('GET', `/v2/${repository}/${mediaType === manifestType ? 'manifests' : 'blobs'}/${digest}`);
        const given = far.damage === undefined ? bytes : far.damage(bytes);
        return (async function* () {
          yield given.subarray(range?.start ?? 0, range?.end);
        })();
      },
    }),
    listTags: async (repository) => {
      await reach('tags');
      return (await ask('GET', `/v2/${repository}/tags/list`)).json.tags;
    },
    listReferrers: async (repository, subject) => {
      await reach('referrers');
      return (await ask('GET', `/v2/${repository}/referrers/${subject}`)).json.manifests;
    },
  };
  return far;
}

describe('a mirror', () => {
  let far: FarSide;
  let store: RegistryStore;
  let told: Finding[];
  let counted: string[];
  let ask: AskRegistry;
  const opened = () => far.asked.filter((what) => what.startsWith('open'));
  const get = (target: string) => ask('GET', target);

  beforeEach(() => {
    far = createFarSide();
    store = createMemoryRegistryStore();
    told = [];
    counted = [];
    const countMirrored = (outcome: 'hit' | 'miss') => void counted.push(outcome);
    ask = askOf(createRegistry({ store, upstream: far, countMirrored, announce: (finding) => told.push(finding) }));
  });

  it('fetches what is asked for, once, and keeps it', async () => {
    const digest = await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    expect((await get('/v2/team/model/manifests/v1')).headers['docker-content-digest']).toBe(digest);
    expect((await get(`/v2/team/model/blobs/${sha256('weights')}`)).bytes.toString()).toBe('weights');
    expect(opened()).toEqual([`open ${digest}`, `open ${sha256('weights')}`]);
    expect((await get(`/v2/team/model/manifests/${digest}`)).status).toBe(200);
    expect((await get(`/v2/team/model/blobs/${sha256('weights')}`)).bytes.toString()).toBe('weights');
    expect(opened()).toHaveLength(2);
    expect(counted).toEqual(['miss', 'miss', 'hit', 'hit']);
    expect((await get('/v2/_catalog')).json.repositories).toEqual(['team/model']);
  });

  it('fetches once for many who ask at once', async () => {
    await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    let open = () => {};
    far.gate = new Promise<void>((resolve) => (open = resolve));
    const answers = Array.from({ length: 20 }, () => get(`/v2/team/model/blobs/${sha256('weights')}`));
    setImmediate(open);
    for (const answer of await Promise.all(answers)) expect(answer.bytes.toString()).toBe('weights');
    expect(opened()).toHaveLength(1);
  });

  it('gives nobody wrong bytes as whole, and keeps none', async () => {
    await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    far.damage = (bytes) => Buffer.from(bytes).fill('x');
    await expect(get(`/v2/team/model/blobs/${sha256('weights')}`)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(told.map(({ code }) => code)).toEqual(['registry/mirror']);
    far.damage = undefined;
    expect((await get(`/v2/team/model/blobs/${sha256('weights')}`)).bytes.toString()).toBe('weights');
  });

  it('serves what it has while the other one is away, and says so', async () => {
    const digest = await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    await get('/v2/team/model/manifests/v1');
    far.isDown = true;
    const later = askOf(createRegistry({ store, upstream: far }));
    const answer = await later('GET', '/v2/team/model/manifests/v1');
    expect([answer.status, answer.headers['docker-content-digest']]).toEqual([200, digest]);
    expect(answer.headers['warning']).toMatch(/^299 - "far\.example/);
    expect((await later('GET', '/v2/team/model/tags/list')).json.tags).toEqual(['v1']);
    expect((await later('GET', '/v2/team/model/manifests/v2')).status).toBe(502);
    expect((await later('GET', `/v2/team/model/blobs/${sha256('weights')}`)).status).toBe(502);
  });

  it('follows a tag that moves', async () => {
    await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    await get('/v2/team/model/manifests/v1');
    const moved = await pushPackage(far.ask, 'team/model', 'v1', ['other weights']);
    const later = askOf(createRegistry({ store, upstream: far }));
    expect((await later('GET', '/v2/team/model/manifests/v1')).headers['docker-content-digest']).toBe(moved);
  });

  it('says what is not there either', async () => {
    await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    expect((await get('/v2/team/model/manifests/v9')).status).toBe(404);
    expect((await get(`/v2/team/model/blobs/${sha256('nothing')}`)).code).toBe('BLOB_UNKNOWN');
    expect((await get('/v2/team/none/manifests/v1')).code).toBe('NAME_UNKNOWN');
  });

  it('brings what is attached', async () => {
    const digest = await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    const subject = { mediaType: manifestType, digest, size: (await far.ask('GET', `/v2/team/model/manifests/${digest}`)).bytes.length };
    const note = await pushPackage(far.ask, 'team/model', undefined, ['note'], { subject, artifactType: 'application/vnd.note' });
    const { manifests } = (await get(`/v2/team/model/referrers/${digest}`)).json;
    expect(manifests).toMatchObject([{ digest: note, artifactType: 'application/vnd.note' }]);
    expect((await get(`/v2/team/model/manifests/${note}`)).status).toBe(200);
  });

  it('stands for one namespace only, and is read-only', async () => {
    await pushPackage(far.ask, 'team/model', 'v1', ['weights']);
    expect((await get('/v2/team/model/manifests/v1?ns=other.example')).status).toBe(404);
    const own = await get('/v2/team/model/manifests/v1?ns=far.example');
    expect([own.status, own.headers['oci-namespace']]).toEqual([200, 'far.example']);
    expect((await ask('POST', '/v2/team/model/blobs/uploads/')).status).toBe(405);
  });
});
