import { describe, expect, it } from 'vitest';
import { createError, type Descriptor } from '../../core/index.js';
import { openUpstream, parseUpstream } from './upstream.js';

const digest = `sha256:${'a'.repeat(64)}` as const;
const manifest: Descriptor = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 2 };

describe('parseUpstream', () => {
  it.each([
    ['ghcr.io', { host: 'ghcr.io', prefix: '', isPlain: undefined }],
    ['https://ghcr.io/', { host: 'ghcr.io', prefix: '', isPlain: false }],
    ['http://127.0.0.1:5001', { host: '127.0.0.1:5001', prefix: '', isPlain: true }],
    ['http://[::1]:5001/team/models/', { host: '[::1]:5001', prefix: 'team/models/', isPlain: true }],
  ])('%s', (text, address) => {
    expect(parseUpstream(text)).toEqual({ text, ...address });
  });

  it.each(['', 'https://', 'ftp://ghcr.io', 'https://ghcr.io/Team', 'https://ghcr.io:x', 'https://ghcr.io/a?b', 'https://me:pass-word@ghcr.io'])(
    'refuses %j, and repeats nothing of it',
    (text) => {
      const refuse = () => parseUpstream(text);
      expect(refuse).toThrow(expect.objectContaining({ code: 'ops/bad-option' }));
      expect(refuse).not.toThrow(/pass-word/);
    },
  );
});

/** A client whose repositories answer what they are told to, and note what they were called. */
function fakeClient(answers: object) {
  const opened: string[] = [];
  const repository = (host: string, name: string) => {
    opened.push(`${host}/${name}`);
    return answers as never;
  };
  return { opened, client: { repository } };
}

describe('openUpstream', () => {
  it('asks the repository below its prefix, opened once', async () => {
    const { opened, client } = fakeClient({ resolve: async () => manifest, findBlob: async () => undefined, findLayer: async () => manifest });
    const upstream = openUpstream(parseUpstream('https://ghcr.io/team'), client);
    expect(await upstream.resolve('digits', 'v1')).toBe(manifest);
    expect(await upstream.resolve('digits', digest)).toBeUndefined();
    expect(await upstream.findBlob('digits', digest)).toBe(manifest);
    expect({ opened, host: upstream.host }).toEqual({ opened: ['ghcr.io/team/digits'], host: 'ghcr.io' });
  });

  it('takes what is not there for an answer, and nothing else', async () => {
    const fail = (code: 'registry/not-found' | 'registry/unreachable') => {
      const reject = async () => Promise.reject(createError(code, { message: 'Cannot' }));
      const { client } = fakeClient({
        resolve: reject,
        listReferrers: reject,
        async *listTags() {
          yield await reject();
        },
      });
      return openUpstream(parseUpstream('ghcr.io'), client);
    };
    const none = fail('registry/not-found');
    expect([await none.resolve('x', 'v1'), await none.listTags('x'), await none.listReferrers('x', digest)]).toEqual([undefined, undefined, []]);
    const gone = fail('registry/unreachable');
    await expect(gone.resolve('x', 'v1')).rejects.toMatchObject({ code: 'registry/unreachable' });
    await expect(gone.listTags('x')).rejects.toMatchObject({ code: 'registry/unreachable' });
  });

  it('lists all tags', async () => {
    const { client } = fakeClient({
      async *listTags() {
        yield* ['v1', 'v2'];
      },
    });
    expect(await openUpstream(parseUpstream('ghcr.io'), client).listTags('x')).toEqual(['v1', 'v2']);
  });
});
