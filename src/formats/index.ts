/**
 * formats: what bytes mean. The one list of all formats; a format knows nothing of places, names or the terminal.
 */
import type { FormatReader, PackageSource } from '../core/index.js';
import { carton } from './carton/index.js';
import { modelpack } from './modelpack/index.js';

export * from './carton/index.js';
export * from './modelpack/index.js';

/** In the order in which they are asked. */
export const formats: readonly FormatReader[] = [modelpack, carton];

export interface DetectedFormat {
  readonly reader: FormatReader;
  readonly vintage?: string;
  readonly because: string;
}

/** The first format that recognises the package; undefined when it is foreign. */
export async function detectFormat(source: PackageSource): Promise<DetectedFormat | undefined> {
  for (const reader of formats) {
    const detection = await reader.detect(source);
    if (detection !== undefined) return { reader, ...detection };
  }
  return undefined;
}
