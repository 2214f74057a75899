import { describe, expect, it } from 'vitest';
import { SharedWork } from './shared-work.js';

/** Work that ends when the test says so. */
function hold() {
  const starts: AbortSignal[] = [];
  let end = () => {};
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  const action = (signal: AbortSignal) => {
    starts.push(signal);
    return ended;
  };
  return { work: new SharedWork(), starts, action, end };
}

describe('SharedWork', () => {
  it('runs once for all who come meanwhile, and again for those who come later', async () => {
    const { work, starts, action, end } = hold();
    const first = [work.run('a', action, undefined), work.run('a', action, undefined), work.run('b', action, undefined)];
    expect(starts).toHaveLength(2);
    end();
    expect(await Promise.all(first)).toEqual(['done', 'done', 'done']);
    await work.run('a', action, undefined);
    expect(starts).toHaveLength(3);
  });

  it('goes on when one of many gives up, and ends with the last', async () => {
    const { work, starts, action } = hold();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = work.run('a', action, one.signal);
    const second = work.run('a', action, two.signal);
    one.abort();
    await expect(first).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(starts.map(({ aborted }) => aborted)).toEqual([false]);
    two.abort();
    await expect(second).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(starts.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('begins nothing for a signal that came before', async () => {
    const { work, starts, action } = hold();
    await expect(work.run('a', action, AbortSignal.abort())).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(starts).toEqual([]);
  });

  it('gives a failure to all, then begins anew', async () => {
    const work = new SharedWork<string>();
    const fail = () => Promise.reject(new Error('broken'));
    const both = await Promise.allSettled([work.run('a', fail, undefined), work.run('a', fail, undefined)]);
    expect(both).toMatchObject([{ reason: { message: 'broken' } }, { reason: { message: 'broken' } }]);
    expect(await work.run('a', async () => 'mended', undefined)).toBe('mended');
  });
});
