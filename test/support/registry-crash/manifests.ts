import { indexType, manifestType, sha256 } from '../ask-registry.js';
import { type Blob, type Manifest, toBlob } from './ledger.js';

export const config: Blob = toBlob(Buffer.from('{"all":"packages here have this one"}'));

/** `mark` makes it another one than all others. */
export function makeManifest(layers: readonly Blob[], mark: string, subject?: Manifest): Manifest {
  const toDescriptor = ({ digest, bytes }: Blob, mediaType: string) => ({ mediaType, digest, size: bytes.byteLength });
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: toDescriptor(config, 'application/x.config+json'),
      layers: layers.map((layer) => toDescriptor(layer, 'application/octet-stream')),
      annotations: { mark },
      ...(subject === undefined ? {} : { artifactType: 'application/x.note', subject: toChild(subject) }),
    }),
  );
  const names = [config, ...layers].map(({ digest }) => digest);
  return { digest: sha256(bytes), bytes, mediaType: manifestType, names, ...(subject === undefined ? {} : { subject: subject.digest }) };
}

export function makeIndex(manifests: readonly Manifest[], mark: string): Manifest {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: manifests.map(toChild), annotations: { mark } }));
  return { digest: sha256(bytes), bytes, mediaType: indexType, names: manifests.map(({ digest }) => digest) };
}

function toChild({ mediaType, digest, bytes }: Manifest) {
  return { mediaType, digest, size: bytes.byteLength };
}
