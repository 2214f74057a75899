import { crc32 } from 'node:zlib';

/** Fields of a record, to be written as they stand here. */
export interface OddFields {
  readonly signature?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly crc32?: number;
  readonly packed?: number;
  readonly size?: number;
  readonly name?: string | Uint8Array;
  readonly extra?: Uint8Array;
  readonly comment?: string;
  /** 3 is Unix, 0 is DOS. */
  readonly host?: number;
  /** With the type of the file; 0100644 by default. */
  readonly mode?: number;
  readonly disk?: number;
  readonly offset?: number;
}

/** One member, including what a decent writer refuses. `local` and `central` override what is said of it in one of its two places. */
export interface OddMember extends OddFields {
  readonly name: string | Uint8Array;
  /** As it lies there, that is compressed where `method` says so; then `size` and `crc32` are to be given. */
  readonly content?: string | Uint8Array;
  readonly local?: OddFields;
  readonly central?: OddFields;
  /** Behind the content. */
  readonly descriptor?: Uint8Array;
  /** Before the local header. */
  readonly gap?: Uint8Array;
}

/** What stands around the members. `end` and `end64` override fields; `end64` brings the zip64 records along. */
export interface OddArchive {
  readonly prefix?: string | Uint8Array;
  readonly suffix?: string | Uint8Array;
  readonly comment?: string | Uint8Array;
  /** Between the last member and the list. */
  readonly beforeList?: Uint8Array;
  /** Between the list and the end records. */
  readonly behindList?: Uint8Array;
  readonly end?: OddEnd;
  readonly end64?: OddEnd & { readonly locatorOffset?: number; readonly disks?: number; readonly length?: number };
}

export interface OddEnd {
  readonly disk?: number;
  readonly directoryDisk?: number;
  readonly entriesHere?: number;
  readonly entries?: number;
  readonly size?: number;
  readonly offset?: number;
}

/** The bytes of an archive of these members, in this order in both places. */
export function oddZip(members: readonly OddMember[], archive: OddArchive = {}): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let length = 0;
  const put = (...bytes: readonly (string | Uint8Array | undefined)[]) => {
    for (const each of bytes) length += parts[parts.push(Buffer.from((each ?? '') as string)) - 1]!.length;
  };
  put(archive.prefix);
  for (const member of members) {
    put(member.gap);
    list.push(toCentral(member, length));
    put(toLocal(member), member.content, member.descriptor);
  }
  put(archive.beforeList);
  const directory = Buffer.concat(list);
  const facts = { disk: 0, directoryDisk: 0, entriesHere: list.length, entries: list.length, size: directory.length, offset: length };
  put(directory, archive.behindList);
  if (archive.end64 !== undefined) put(toEnd64({ ...facts, ...archive.end64 }, length, archive.end64));
  put(toEnd({ ...facts, ...archive.end }, Buffer.from((archive.comment ?? '') as string)), archive.suffix);
  return Buffer.concat(parts);
}

/** One extra field. */
export function oddExtra(id: number, data: Uint8Array): Buffer {
  return Buffer.concat([numbers([id, 2], [data.length, 2]), data]);
}

/** The zip64 extra field with these values of 8 bytes. */
export function zip64Extra(...values: readonly number[]): Buffer {
  return oddExtra(1, numbers(...values.map((value) => [value, 8] as const)));
}

/** Little-endian numbers after each other, each with its length: 1, 2, 4 or 8 bytes. */
export function numbers(...values: readonly (readonly [value: number, bytes: number])[]): Buffer {
  const all = values.map(([value, bytes]) => {
    const buffer = Buffer.alloc(bytes);
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value));
    else buffer.writeUIntLE(value, 0, bytes);
    return buffer;
  });
  return Buffer.concat(all);
}

function factsOf(member: OddMember, override: OddFields = {}): Required<Omit<OddFields, 'signature' | 'offset'>> & OddFields {
  const content = Buffer.from(member.content ?? '');
  const plain = { flags: 0, method: 0, crc32: crc32(content), packed: content.length, size: content.length, extra: Buffer.alloc(0) };
  return { ...plain, comment: '', host: 3, mode: 0o100644, disk: 0, ...member, ...override };
}

function toLocal(member: OddMember): Buffer {
  const facts = factsOf(member, member.local);
  const { flags, method, packed, size, signature = 0x04034b50 } = facts;
  const name = Buffer.from(facts.name as string);
  const head = numbers([signature, 4], [20, 2], [flags, 2], [method, 2], [0, 2], [0x21, 2], [facts.crc32, 4], [packed, 4], [size, 4]);
  return Buffer.concat([head, numbers([name.length, 2], [facts.extra.length, 2]), name, facts.extra]);
}

function toCentral(member: OddMember, at: number): Buffer {
  const facts = factsOf(member, member.central);
  const { flags, method, packed, size, signature = 0x02014b50, offset = at } = facts;
  const name = Buffer.from(facts.name as string);
  const comment = Buffer.from(facts.comment);
  const head = numbers([signature, 4], [20, 1], [facts.host, 1], [20, 2], [flags, 2], [method, 2], [0, 2], [0x21, 2]);
  const sizes = numbers([facts.crc32, 4], [packed, 4], [size, 4], [name.length, 2], [facts.extra.length, 2], [comment.length, 2]);
  const place = numbers([facts.disk, 2], [0, 2], [(facts.mode << 16) >>> 0, 4], [offset, 4]);
  return Buffer.concat([head, sizes, place, name, facts.extra, comment]);
}

function toEnd({ disk, directoryDisk, entriesHere, entries, size, offset }: Required<OddEnd>, comment: Buffer): Buffer {
  const counts = numbers([0x06054b50, 4], [disk, 2], [directoryDisk, 2], [entriesHere, 2], [entries, 2], [size, 4], [offset, 4]);
  return Buffer.concat([counts, numbers([comment.length, 2]), comment]);
}

function toEnd64(facts: Required<OddEnd>, at: number, odd: NonNullable<OddArchive['end64']>): Buffer {
  const { disk, directoryDisk, entriesHere, entries, size, offset } = facts;
  const record = numbers([0x06064b50, 4], [odd.length ?? 44, 8], [45, 2], [45, 2], [disk, 4], [directoryDisk, 4]);
  const counts = numbers([entriesHere, 8], [entries, 8], [size, 8], [offset, 8]);
  const locator = numbers([0x07064b50, 4], [0, 4], [odd.locatorOffset ?? at, 8], [odd.disks ?? 1, 4]);
  return Buffer.concat([record, counts, locator]);
}
