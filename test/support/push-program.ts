/** A process of its own that sends a file: node FILE HOST JOURNAL PATH DIGEST SIZE PIECE_BYTES. */
import { createCounters, defaultLimits, parseDigest } from '../../src/core/index.js';
import { createRegistryClient, openUploadJournal } from '../../src/registry/client/index.js';

const [host = '', journal = '', path = '', digest = '', size = '', pieceBytes = ''] = process.argv.slice(2);

const client = createRegistryClient({
  env: {},
  limits: defaultLimits,
  counters: createCounters(),
  credentials: { find: async () => undefined, save: async () => ({ where: 'nowhere', encrypted: false }), remove: async () => false },
  journal: openUploadJournal(journal),
  places: { find: () => undefined, note: () => {} },
  isPlainHttp: () => true,
  tls: {},
  tokenHostsOf: () => [],
  mirrorsOf: () => [],
  concurrency: 1,
  quirks: { chunkBytes: Number(pieceBytes) },
  warn: () => {},
});

const expected = { digest: parseDigest(digest), size: Number(size) };
await client.repository(host, 'demo/model').put({ kind: 'file', path, size: expected.size }, { expected });
client.close();
