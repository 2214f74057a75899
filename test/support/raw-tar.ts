/** One tar entry as its header shall say it, including what a decent writer refuses. */
export interface RawEntry {
  readonly name: string;
  /** `0` file, `1` hard link, `2` symlink, `3` and `4` devices, `5` folder, `6` fifo. */
  readonly type?: string;
  readonly content?: string | Uint8Array;
  readonly linkName?: string;
  readonly mode?: number;
  readonly mtime?: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** The bytes of a whole archive, two zero blocks at its end. Names over 100 bytes get a pax header. */
export function rawTar(...entries: readonly RawEntry[]): Uint8Array {
  return Buffer.concat([...entries.flatMap(rawEntry), Buffer.alloc(1024)]);
}

function rawEntry(entry: RawEntry): Buffer[] {
  const content = Buffer.from(entry.content ?? '');
  const header = rawHeader(entry, content.length);
  const records = [paxRecord('path', entry.name), paxRecord('linkpath', entry.linkName ?? '')].join('');
  if (records === '') return [header, padded(content)];
  const pax = Buffer.from(records);
  return [rawHeader({ name: 'pax', type: 'x' }, pax.length), padded(pax), header, padded(content)];
}

function rawHeader(
  { name, type = '0', linkName = '', mode = type === '5' ? 0o755 : 0o644, mtime = 1_700_000_000, uid = 0, gid = 0 }: RawEntry,
  size: number,
): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number) => block.write(value.toString(8).padStart(length - 1, '0'), at);
  block.write(name.slice(0, 100), 0, 100);
  octal(mode, 100, 8);
  octal(uid, 108, 8);
  octal(gid, 116, 8);
  octal(size, 124, 12);
  octal(mtime, 136, 12);
  block.fill(' ', 148, 156);
  block.write(type, 156);
  block.write(linkName.slice(0, 100), 157, 100);
  block.write('ustar\x0000', 257);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

function paxRecord(key: string, value: string): string {
  if (Buffer.byteLength(value) <= 100) return '';
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
