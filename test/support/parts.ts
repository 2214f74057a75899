import { fromBytes } from '../../src/bytes/index.js';
import type { ModelPackage, Part, Role } from '../../src/core/index.js';
import { emptyIo } from '../../src/core/index.js';

/** A part whose bytes are in memory. */
export function part(path: string, role: Role = 'code', content: string | Uint8Array = path, over: Partial<Part> = {}): Part {
  const bytes = Buffer.from(content);
  return { role, path, size: bytes.byteLength, content: { kind: 'stream', open: async () => fromBytes(bytes) }, ...over };
}

export function packageOf(parts: readonly Part[], over: Partial<ModelPackage> = {}): ModelPackage {
  return { format: 'folder', identity: {}, weights: {}, capabilities: {}, parts, io: emptyIo, run: {}, extra: {}, findings: [], ...over };
}
