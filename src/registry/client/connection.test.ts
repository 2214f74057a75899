import { describe, expect, it } from 'vitest';
import {
  createBench,
  descriptorOf,
  makeManifest,
  patternBytes,
  quick,
  startBench,
  startProxy,
  startRegistry,
  startTokens,
} from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';

const layer = descriptorOf(patternBytes(1000));
const manifest = makeManifest(layer);

const start = async (...given: Parameters<typeof startBench>) => {
  const bench = await startBench(...given);
  bench.registry.putManifest('demo/model', 'v1', manifest);
  return { ...bench, resolve: () => bench.open().resolve('v1') };
};

describe('a registry that is too busy', () => {
  it.each([
    ['at once', '0'],
    ['at a time that is past', new Date(0).toUTCString()],
    ['without saying when', ''],
    ['at a time that is none', 'tomorrow'],
  ])('is asked again: %s', async (_when, retryAfter) => {
    const { resolve, registry } = await start({ rateLimit: { times: quick.attempts - 1, retryAfter } });
    expect(await resolve()).toBeDefined();
    expect(registry.log.map(({ status }) => status)).toEqual([429, 429, 429, 200]);
  });

  it.each(['3', '315360000', '9'.repeat(30), new Date(Date.now() + 3_600_000).toUTCString()])(
    'is not waited for as long as %s',
    async (retryAfter) => {
      const { resolve, registry } = await start({ rateLimit: { times: 1, retryAfter } });
      await expect(resolve()).rejects.toMatchObject({ code: 'registry/busy', message: expect.stringContaining('asks to wait') as string });
      expect(registry.log.length).toBe(1);
    },
  );

  it.each([
    [429, 'registry/busy'],
    [503, 'registry/busy'],
    [500, 'registry/interrupted'],
    [502, 'registry/interrupted'],
    [504, 'registry/interrupted'],
  ])('for good (%d) is given up', async (status, code) => {
    const { resolve, registry } = await start({ failStatus: () => status });
    await expect(resolve()).rejects.toMatchObject({ code });
    expect(registry.log.length).toBe(quick.attempts);
  });
});

describe('a refusal', () => {
  it.each([
    [400, 'registry/refused'],
    [401, 'registry/login'],
    [403, 'registry/denied'],
    [405, 'registry/unsupported'],
    [413, 'registry/refused'],
    [418, 'registry/refused'],
    [501, 'registry/unsupported'],
    [505, 'registry/bad-answer'],
  ])('by %d is not asked for twice', async (status, code) => {
    const { resolve, registry } = await start({ failStatus: () => status });
    await expect(resolve()).rejects.toMatchObject({ code, message: expect.stringContaining(`answered ${status}`) as string });
    expect(registry.log.length).toBe(1);
  });

  const document = (message: unknown) => JSON.stringify({ errors: [{ code: 'DENIED', message }] });

  it.each([
    ['moves no cursor', document('a\u001b[31mred\u202e\n'), 'DENIED: a\\u{1b}[31mred\\u{202e}\\u{a}'],
    ['is cut', document('x'.repeat(60_000)), `DENIED: ${'x'.repeat(292)}`],
    ['is not read without end', document('x'.repeat(100_000)), 'this is not allowed'],
    ['may say nothing', '', 'this is not allowed'],
    ['may be a web page', '<html><h1>403</h1></html>', 'this is not allowed'],
    ['may be of another kind', '{"errors":[null,1,"x",{"code":5}]}', ''],
    ['may be a list', '{"errors":[{"code":"A"},{"code":"B","detail":"b"}]}', 'A; B: b'],
  ])('%s', async (_what, body, said) => {
    const server = await serve((_, response) => response.writeHead(403).end(body));
    const failure: unknown = await createBench(server.host)
      .open()
      .resolve('v1')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'registry/denied' });
    const { message } = failure as Error;
    expect(message.slice(message.indexOf(', ') + 2)).toContain(said);
    expect(message.length).toBeLessThan(700);
  });

  it('as a web page is one too', async () => {
    const { resolve } = await start({ failStatus: () => 403, htmlErrors: true });
    await expect(resolve()).rejects.toMatchObject({ code: 'registry/denied', hint: expect.stringContaining('modelport login') as string });
  });
});

describe('a line', () => {
  it('that breaks before the answer is tried again', async () => {
    const registry = await startRegistry();
    registry.putManifest('demo/model', 'v1', manifest);
    const proxy = await startProxy(registry, { kind: 'refuse', times: 2 });
    const { open } = createBench(proxy.host);
    expect(await open().resolve('v1')).toBeDefined();
  });

  it('to where nobody is, is not', async () => {
    const registry = await startRegistry();
    await registry.close();
    const { open, counters } = createBench(registry.host);
    await expect(open().resolve('v1')).rejects.toMatchObject({ code: 'registry/unreachable' });
    expect(counters.requests).toBe(1);
  });
});

describe('a warning', () => {
  it('is handed on once, readable, and without what would move a cursor', async () => {
    const { open, warnings, registry } = await start({ warnings: ['say "hi", friend', 'red \u009b31m'] });
    for (let turn = 0; turn < 3; turn++) await open().resolve('v1');
    expect(warnings).toEqual([`${registry.host}: say "hi", friend`, `${registry.host}: red \\u{9b}31m`]);
  });

  it('comes with a refusal too, and not without end', async () => {
    let count = 0;
    const { open, warnings } = await start({ failStatus: () => 403, headers: () => ({ warning: `299 - "number ${++count}"` }) });
    for (let turn = 0; turn < 150; turn++)
      await open()
        .resolve('v1')
        .catch(() => {});
    expect(warnings.length).toBe(100);
  });
});

describe('a login', () => {
  const logins = (host: string) => ({ [host]: { kind: 'password', username: 'ann', password: 'secret' } as const });

  it('is asked for once, whatever is done at once', async () => {
    const server = await startTokens({ users: { ann: 'secret' } });
    const registry = await startRegistry({}, { auth: { kind: 'token', server } });
    registry.putManifest('demo/model', 'v1', manifest);
    const { open, client } = createBench(registry.host, { logins: logins(registry.host) });
    await Promise.all(Array.from({ length: 8 }, () => open().resolve('v1')));
    expect(server.requests.length).toBe(1);
    expect(await client.ping(registry.host)).toEqual({ asked: true });
  });

  it.each([
    ['there is none', {}, 'asks for a login'],
    ['the password is wrong', { kind: 'password', username: 'ann', password: 'wrong' }, ''],
  ])('that fails because %s says so, and shows no secret', async (_why, login, reason) => {
    const registry = await startRegistry({}, { auth: { kind: 'basic', user: 'ann', password: 'secret' } });
    const given = 'kind' in login ? { [registry.host]: login as { kind: 'password'; username: string; password: string } } : {};
    const failure: unknown = await createBench(registry.host, { logins: given })
      .open()
      .resolve('v1')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'registry/login', message: expect.stringContaining(reason) as string });
    expect(String(failure)).not.toContain('wrong');
    expect(registry.log.length).toBeLessThanOrEqual(2);
  });

  it('whose token service says too much is refused', async () => {
    const server = await startTokens({ users: { ann: 'secret' }, answer: () => `{"token":"${'x'.repeat(200_000)}"}` });
    const registry = await startRegistry({}, { auth: { kind: 'token', server } });
    const { open } = createBench(registry.host, { logins: logins(registry.host) });
    await expect(open().resolve('v1')).rejects.toMatchObject({ code: 'registry/bad-answer' });
  });
});
