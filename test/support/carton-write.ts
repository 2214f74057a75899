import { createHash } from 'node:crypto';
import { collect, digestOf, openContent } from '../../src/bytes/index.js';
import {
  defaultLimits,
  type Description,
  emptyDescription,
  type FilesSource,
  type ModelPackage,
  silentProgress,
  type Tensor,
} from '../../src/core/index.js';
import { gatherDocuments } from '../../src/formats/carton/documents.js';
import { openMembers } from '../../src/formats/carton/open-members.js';
import { type CartonMembers } from '../../src/formats/carton/carton.js';
import { writeCarton } from '../../src/formats/carton/write.js';
import type { CartonWriteOptions, CartonWritten, SinkMember, ZipSink } from '../../src/formats/carton/write-options.js';
import { type CartonFile, sourceOf } from './carton-files.js';
import { packageOf, part } from './parts.js';

export const writeOptions: CartonWriteOptions = { progress: silentProgress, limits: defaultLimits, concurrency: 2 };

/** Takes the members of a carton as a zip would, and keeps them. */
export class MemoryCarton implements ZipSink {
  readonly kind = 'zip';
  readonly added: (SinkMember & { readonly bytes?: Uint8Array })[] = [];

  async add(member: SinkMember) {
    if ('link' in member) {
      this.added.push(member);
      return { size: 0, digest: digestOf(Buffer.from(member.link)) };
    }
    const bytes = await collect(openContent(member.content), 1e9, member.path);
    this.added.push({ ...member, bytes });
    return { size: bytes.byteLength, digest: digestOf(bytes) };
  }

  get paths(): readonly string[] {
    return this.added.map(({ path }) => path);
  }

  get files(): Readonly<Record<string, CartonFile>> {
    return Object.fromEntries(this.added.map((member) => [member.path, 'link' in member ? { link: member.link } : (member.bytes ?? '')]));
  }

  text(path: string): string {
    const file = this.files[path];
    if (file === undefined || (typeof file === 'object' && 'link' in file)) throw new Error(`${path} is no file: ${this.paths.join(' ')}`);
    return Buffer.from(file).toString();
  }

  get source(): FilesSource {
    return sourceOf(this.files, 'zip');
  }

  /** Of everything that is in it, order and permissions too. */
  get fingerprint(): string {
    const hash = createHash('sha256');
    for (const { bytes, ...member } of this.added) hash.update(JSON.stringify({ ...member, content: undefined })).update(bytes ?? '');
    return hash.digest('hex');
  }
}

export async function membersOf(source: FilesSource): Promise<CartonMembers> {
  return openMembers(source, { limits: defaultLimits });
}

export async function documentsOf(source: FilesSource) {
  return gatherDocuments(await membersOf(source), { limits: defaultLimits });
}

export async function writeToMemory(
  pkg: ModelPackage,
  description: Partial<Description> = {},
  options: Partial<CartonWriteOptions> = {},
): Promise<CartonWritten & { readonly carton: MemoryCarton }> {
  const carton = new MemoryCarton();
  const written = await writeCarton(pkg, { ...emptyDescription, ...description }, carton, { ...writeOptions, ...options });
  return { ...written, carton };
}

export const noop = { runner: 'noop', frameworkVersion: '=1.0.0' } as const;

const lazy = (tensor: Tensor) => async () => tensor;

export function floats(shape: readonly number[], ...values: readonly number[]): Tensor {
  return { kind: 'numeric', dtype: 'float32', shape, bytes: new Uint8Array(Float32Array.from(values).buffer) };
}

export function texts(shape: readonly number[], ...values: readonly string[]): Tensor {
  return { kind: 'string', shape, values };
}

export function testOf(inputs: Readonly<Record<string, Tensor>>, expected?: Readonly<Record<string, Tensor>>) {
  const toLazy = (tensors: Readonly<Record<string, Tensor>>) =>
    new Map(Object.entries(tensors).map(([name, tensor]) => [name, lazy(tensor)] as const));
  return { inputs: toLazy(inputs), ...(expected === undefined ? {} : { expected: toLazy(expected) }) };
}

/** A model with everything that a carton has a place for. */
export function richPackage(over: Partial<ModelPackage> = {}): ModelPackage {
  const scalar: Tensor = { kind: 'numeric', dtype: 'int64', shape: [], bytes: new Uint8Array(BigInt64Array.of(5n).buffer) };
  return packageOf([part('weights.bin', 'weights', 'weights'), part('b/ü.txt', 'doc', 'text'), part('picture.png', 'doc', 'picture')], {
    identity: {
      name: 'demo',
      description: 'A model, 🎉',
      licenses: ['MIT', 'Apache-2.0 OR BSD-3-Clause'],
      homepage: 'https://example.com',
      repository: 'https://example.com/repo',
    },
    io: {
      inputs: [
        { name: 'x', dtype: 'float32', shape: ['batch', 2, null], description: 'Numbers', internalName: 'graph/x:0' },
        { name: 's', dtype: 'string', shape: '*' },
      ],
      outputs: [{ name: 'y', dtype: 'int64', shape: [] }],
      selfTests: 2,
      examples: 1,
    },
    samples: {
      selfTests: [
        {
          name: 'one',
          description: 'first',
          rtol: 1e-3,
          atol: 0,
          ...testOf({ s: texts([2], 'ü', '🎉'), x: floats([1, 2, 1], 1, 2) }, { y: scalar }),
        },
        testOf({ x: floats([1, 2, 1], 1, 2), s: texts([1], 'z') }),
      ],
      examples: [
        {
          name: 'shown',
          inputs: new Map([
            ['x', { kind: 'tensor', load: lazy(floats([2], 1, 2)) }],
            ['s', { kind: 'file', path: 'picture.png' }],
          ]),
          outputs: new Map(),
        },
      ],
    },
    ...over,
  });
}
