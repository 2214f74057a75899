import { digestOf, fromBytes } from '../../bytes/index.js';
import { type ByteStream, createError, type Digest, isToolkitError, type LazyTensor, type PlainTensor } from '../../core/index.js';
import { type TomlTable, writeToml } from '../../text/index.js';
import { type PlannedFile, textMember } from './member-plan.js';
import { tensorFolder, tensorIndexName, tensorPrefix } from './spec.js';
import { encodeTensor } from './tensor-data.js';

/** Tensors together up to this size stay in memory between numbering and writing; those beyond it are read again. */
const keptBytes = 32 * 1024 * 1024;

type PlainEntry = TomlTable & { readonly file: string };

/** What a carton that is added to has already, in lower case. */
export interface TakenNames {
  readonly names: ReadonlySet<string>;
  /** Members below tensor_data/, with that folder. */
  readonly files: ReadonlySet<string>;
}

const nothingTaken: TakenNames = { names: new Set(), files: new Set() };

/**
 * The test tensors of a carton: named and numbered in the order in which they come, equal ones stored once. So the same tests give the same names.
 */
export class TensorTable {
  readonly #rows: TomlTable[] = [];
  readonly #names = new Map<string, string>();
  /** By content and kind of file. */
  readonly #files = new Map<string, PlannedFile>();
  readonly #limit: number;
  readonly #taken: TakenNames;
  #kept = 0;
  #tensors = 0;
  #inner = 0;
  #numbers = 0;

  /** `limit` counts the bytes of tensors that are held in memory together. */
  constructor(limit = keptBytes, taken = nothingTaken) {
    this.#limit = limit;
    this.#taken = taken;
  }

  /** What the index says of them. */
  get rows(): readonly TomlTable[] {
    return this.#rows;
  }

  get files(): readonly PlannedFile[] {
    return [...this.#files.values()];
  }

  /** Gives the reference to write. `what` names the tensor in an error. Throws `carton/cannot-write`, and what loading throws. */
  async add(load: LazyTensor, what: string): Promise<string> {
    const tensor = await load();
    if (tensor.kind !== 'nested') return this.#reference(this.#describe(tensor, async () => onlyPlain(await load(), what), what));
    const inner = tensor.inner.map((each, index) => this.#describe(each, async () => innerOf(await load(), index, what), what));
    const key = writeToml({ inner });
    const known = this.#names.get(key);
    if (known !== undefined) return tensorPrefix + known;
    const names = inner.map((entry) => this.#push({ name: this.#freeName(() => `_carton_nested_inner_${this.#inner++}`), ...entry, inner: [] }));
    // A reader takes inner tensors out of the index, so each nested tensor has names of its own; their files may be the same.
    return tensorPrefix + this.#remember(key, this.#push({ name: this.#tensorName(), dtype: 'nested', inner: names }));
  }

  /** Of tensor_data/, the index included: a reader of Carton's own makes insists on it. */
  members(): readonly PlannedFile[] {
    return [textMember(tensorIndexName, writeToml({ tensor: this.#rows })), ...this.files];
  }

  #reference(entry: PlainEntry): string {
    const key = writeToml(entry);
    const known = this.#names.get(key);
    return tensorPrefix + (known ?? this.#remember(key, this.#push({ name: this.#tensorName(), ...entry, inner: [] })));
  }

  #tensorName(): string {
    return this.#freeName(() => `_tensor_${this.#tensors++}`);
  }

  #freeName(next: () => string): string {
    return firstFree(this.#taken.names, next);
  }

  #remember(key: string, name: string): string {
    this.#names.set(key, name);
    return name;
  }

  #push(row: TomlTable & { readonly name: string }): string {
    this.#rows.push(row);
    return row.name;
  }

  /** What the index says of a plain tensor, but its name. */
  #describe(tensor: PlainTensor, reload: () => Promise<PlainTensor>, what: string): PlainEntry {
    const { bytes, extension } = encode(tensor, what);
    const dtype = tensor.kind === 'string' ? 'string' : tensor.dtype;
    const digest = digestOf(bytes);
    const key = `${extension}:${digest}`;
    const known = this.#files.get(key);
    const file = known?.path ?? firstFree(this.#taken.files, () => `${tensorFolder}tensor_${this.#numbers++}.${extension}`);
    if (known === undefined)
      this.#files.set(
        key,
        this.#toMember(file, digest, bytes, () => reopen(reload, what)),
      );
    return { dtype, shape: tensor.shape.map(BigInt), file: file.slice(tensorFolder.length) };
  }

  #toMember(path: string, digest: Digest, bytes: Uint8Array, open: () => Promise<ByteStream>): PlannedFile {
    const size = bytes.byteLength;
    const member = { kind: 'file', path, size, mode: 0o644, digest } as const;
    if (this.#kept + size > this.#limit) return { ...member, content: { kind: 'stream', size, open } };
    this.#kept += size;
    return { ...member, content: { kind: 'bytes', bytes } };
  }
}

function firstFree(taken: ReadonlySet<string>, next: () => string): string {
  let name = next();
  while (taken.has(name.toLowerCase())) name = next();
  return name;
}

async function reopen(reload: () => Promise<PlainTensor>, what: string): Promise<ByteStream> {
  return fromBytes(encode(await reload(), what).bytes);
}

function encode(tensor: PlainTensor, what: string): ReturnType<typeof encodeTensor> {
  try {
    return encodeTensor(tensor);
  } catch (error) {
    if (!isToolkitError(error, 'carton/cannot-write')) throw error;
    throw createError('carton/cannot-write', { message: `Cannot write ${what}: ${error.message}`, hint: error.hint, cause: error });
  }
}

function onlyPlain(tensor: Awaited<ReturnType<LazyTensor>>, what: string): PlainTensor {
  if (tensor.kind !== 'nested') return tensor;
  throw changed(what);
}

function innerOf(tensor: Awaited<ReturnType<LazyTensor>>, index: number, what: string): PlainTensor {
  const found = tensor.kind === 'nested' ? tensor.inner[index] : undefined;
  if (found === undefined) throw changed(what);
  return found;
}

function changed(what: string): Error {
  return createError('bytes/file-changed', {
    message: `Cannot write ${what}: its file has changed since it was read`,
    hint: 'Wait until nothing writes to the folder and run the same command again',
  });
}
