import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drain, fromFile } from '../streams.js';
import { BufferBank } from './buffer-loan.js';

const MiB = 1024 * 1024;

it('a buffer goes to the next loan once nobody works on it, and not before', () => {
  const bank = new BufferBank();
  const first = bank.lend('shared', 3 * MiB, 2);
  const buffers = [first.take(), first.take()];
  first.end(true);
  first.end(true);
  const second = bank.lend('shared', 3 * MiB, 2);
  expect([second.take(), second.take()].every((buffer) => buffers.includes(buffer))).toBe(true);
  second.end(false);
  const third = bank.lend('shared', 3 * MiB, 2);
  expect(buffers.includes(third.take())).toBe(false);
  third.end(false);
});

it('many streams get smaller buffers, and the first ones get theirs back', () => {
  const bank = new BufferBank();
  const loans = Array.from({ length: 64 }, () => bank.lend('own', MiB, 3));
  expect(loans[0]?.bytes).toBe(MiB);
  expect(loans.at(-1)?.bytes).toBe(64 * 1024);
  expect(loans.reduce((sum, { bytes }) => sum + 3 * bytes, 0)).toBeLessThan(40 * MiB);
  for (const loan of loans) loan.end(false);
  const after = bank.lend('own', MiB, 3);
  expect(after.bytes).toBe(MiB);
  after.end(false);
});

it('the last chunk of a stream stays as it is until the second next one is asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loans-'));
  const [first, second] = ['first', 'second'].map((name, index) => {
    const path = join(folder, name);
    writeFileSync(path, Buffer.alloc(9 * MiB, index + 1));
    return path;
  });
  const chunks = fromFile(first ?? '')[Symbol.asyncIterator]();
  let last: Uint8Array = new Uint8Array(0);
  for (let size = 0; size < 9 * MiB; size += last.byteLength) last = (await chunks.next()).value as Uint8Array;
  // Asked for once, as by whoever writes one chunk while the next comes.
  await chunks.next();
  expect(await drain(fromFile(second ?? ''))).toBe(9 * MiB);
  expect(last.every((byte) => byte === 1)).toBe(true);
  expect((await chunks.next()).done).toBe(true);
  rmSync(folder, { recursive: true });
});
