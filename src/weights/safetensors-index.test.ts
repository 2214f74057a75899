import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { forwardOnly, makeTensors } from '../../test/support/weight-files.js';
import { readSafetensors } from './safetensors.js';
import { checkSafetensorsIndex, isSafetensorsIndex, parseSafetensorsIndex } from './safetensors-index.js';

const first = 'model-00001-of-00002.safetensors';
const second = 'model-00002-of-00002.safetensors';
const parse = (value: unknown) => parseSafetensorsIndex('m/model.safetensors.index.json', Buffer.from(JSON.stringify(value)), defaultLimits);
const shard = (name: string, ...tensors: string[]) =>
  readSafetensors(
    `m/${name}`,
    forwardOnly(makeTensors(Object.fromEntries(tensors.map((tensor) => [tensor, ['F32', [2], 8] as const])))),
    defaultLimits,
  );

describe('parseSafetensorsIndex', () => {
  it('reads shards and total size', () => {
    const index = parse({ metadata: { total_size: 24 }, weight_map: { a: first, b: second, c: second } });
    expect(index.shards).toEqual([first, second]);
    expect(index.totalSize).toBe(24);
    expect(index.shardOf.get('c')).toBe(second);
    expect(isSafetensorsIndex(index.file)).toBe(true);
    expect(isSafetensorsIndex('m/config.json')).toBe(false);
  });

  it.each(['../x.safetensors', '/etc/x', 'a/../../x', 'http://x/y', 'C:\\x', '', './x', 7])('refuses the shard %s', (name) => {
    expect(() => parse({ weight_map: { a: name } })).toThrow(expect.objectContaining({ code: 'weights/bad-header' }));
  });

  it('refuses what has no map, and more shards than the limit', () => {
    expect(() => parse([])).toThrow(/weight_map/);
    expect(() => parse({ weight_map: [] })).toThrow(/weight_map/);
    const bytes = Buffer.from(JSON.stringify({ weight_map: { a: first, b: second } }));
    expect(() => parseSafetensorsIndex('i', bytes, { ...defaultLimits, shards: 1 })).toThrow(expect.objectContaining({ code: 'bytes/limit' }));
  });
});

describe('checkSafetensorsIndex', () => {
  it('is content with shards that agree', async () => {
    const index = parse({ metadata: { total_size: 24 }, weight_map: { a: first, b: second, c: second } });
    expect(checkSafetensorsIndex(index, [await shard(first, 'a'), await shard(second, 'b', 'c')])).toEqual([]);
  });

  it('finds a missing shard', async () => {
    const findings = checkSafetensorsIndex(parse({ metadata: { total_size: 1 }, weight_map: { a: first, b: second } }), [await shard(first, 'a')]);
    expect(findings).toEqual([expect.objectContaining({ level: 'error', code: 'weights/missing-file', message: expect.stringContaining(second) })]);
  });

  it('finds tensors in another shard, and counts them', async () => {
    const findings = checkSafetensorsIndex(parse({ weight_map: { a: first, b: first, c: second } }), [
      await shard(first, 'a'),
      await shard(second, 'b', 'c', 'd'),
    ]);
    expect(findings.map(({ message }) => message)).toEqual([
      `The index places tensor "b" in "${first}", which does not hold it`,
      `"${second}" holds tensor "b" and 1 more, which the index does not place there`,
    ]);
  });

  it('finds a shard too many and a wrong total', async () => {
    const findings = checkSafetensorsIndex(parse({ metadata: { total_size: 9 }, weight_map: { a: first } }), [
      await shard(first, 'a'),
      await shard(second, 'b'),
    ]);
    expect(findings.map(({ level, message }) => [level, message])).toEqual([
      ['warning', `The shard "m/${second}" is not named by the index`],
      ['warning', 'The index says total_size 9 and the tensors of its shards have 8 bytes'],
    ]);
  });
});
