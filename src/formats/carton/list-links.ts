import type { LinkedPart } from '../../core/index.js';
import type { CartonDocuments } from './carton.js';
import { takeInventory } from './inventory.js';
import { roleOf } from './roles.js';

/** Every file of MANIFEST that LINKS has URLs for, also those that are inside; in the order of MANIFEST. */
export function listLinkedFiles(documents: CartonDocuments): readonly LinkedPart[] {
  const { links, linked } = takeInventory(documents);
  const absent = new Set(linked.map(({ path }) => path));
  const digests = documents.manifest.kind === 'read' ? documents.manifest.value.digests : new Map<string, never>();
  return [...digests].flatMap(([path, digest]): readonly LinkedPart[] => {
    const urls = links.get(digest) ?? [];
    return urls.length > 0 || absent.has(path) ? [{ role: roleOf(path).role, path, digest, urls }] : [];
  });
}
