import { randomBytes } from 'node:crypto';
import { digestOf } from '../../bytes/index.js';
import { isToolkitError } from '../../core/index.js';
import { emptyDescriptor, mediaTypes, toJsonBytes } from '../../oci/index.js';
import type { Manifests } from './manifests.js';

/**
 * Takes a tag away and leaves what it pointed to, with its other tags. Many registries delete by digest alone (Docker's among them), and a
 * manifest goes with all its tags: there the tag is first moved to a manifest that nobody else has, and that one is deleted. Whether
 * it can be is tried before anything is moved. False when there was no such tag. `putConfig` brings the empty config.
 */
export async function untag(manifests: Manifests, tag: string, putConfig: () => Promise<unknown>): Promise<boolean> {
  try {
    return await manifests.remove(tag);
  } catch (error) {
    if (!isToolkitError(error, 'registry/refused') && !isToolkitError(error, 'registry/unsupported')) throw error;
  }
  const before = await manifests.find(tag);
  if (before === undefined) return false;
  await putConfig();
  const standIn = makeStandIn();
  const digest = digestOf(standIn);
  await manifests.put(digest, standIn, mediaTypes.manifest);
  await manifests.remove(digest);
  await manifests.put(tag, standIn, mediaTypes.manifest);
  try {
    return await manifests.remove(digest);
  } catch (error) {
    await manifests.put(tag, before.bytes, before.descriptor.mediaType);
    throw error;
  }
}

function makeStandIn(): Uint8Array {
  return toJsonBytes({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: emptyDescriptor,
    layers: [emptyDescriptor],
    annotations: { 'vnd.modelport.removed': randomBytes(16).toString('hex') },
  });
}
