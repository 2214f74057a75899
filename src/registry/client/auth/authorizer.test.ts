import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createPlainClient,
  type PlainClient,
  type SeenRequest,
  serveTokens,
  type TokenReply,
  type TokenServer,
} from '../../../../test/support/scripted-tokens.js';
import type { Authorizer, Credentials, Scope } from './auth.js';
import { createAuthorizer } from './authorizer.js';

const pull = (name: string): Scope => ({ kind: 'repository', name, actions: ['pull'] });
const push = (name: string): Scope => ({ kind: 'repository', name, actions: ['push', 'pull'] });
const ann: Credentials = { kind: 'password', username: 'ann', password: 'hunter2' };
const annBasic = `Basic ${Buffer.from('ann:hunter2').toString('base64')}`;

interface Bench {
  readonly server: TokenServer;
  readonly client: PlainClient;
  readonly authorizer: Authorizer;
  /** Advances the clock, in milliseconds. */
  readonly pass: (milliseconds: number) => void;
  /** The header of a 401. */
  readonly ask: (scope?: string) => string;
}

interface Settings {
  readonly credentials?: Credentials;
  /** The token service is on this origin, for all that is seen. */
  readonly realmOrigin?: string;
  readonly trustedRealmHosts?: readonly string[];
}

const opened: TokenServer[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

/** An authorizer before a token service that by default gives `t1`, `t2` and so on. */
async function open(answer?: (request: SeenRequest, count: number) => TokenReply | Promise<TokenReply>, settings: Settings = {}): Promise<Bench> {
  let count = 0;
  const server = await serveTokens((request) => {
    count += 1;
    return answer === undefined ? { body: { token: `t${count}`, expires_in: 300 } } : answer(request, count);
  });
  opened.push(server);
  const { realmOrigin = server.origin, credentials, trustedRealmHosts = [] } = settings;
  const client = createPlainClient({ [realmOrigin]: server.origin });
  let time = 1000;
  const authorizer = createAuthorizer({
    host: new URL(server.origin).host,
    registryUrl: server.origin,
    http: client,
    credentials: { find: async () => credentials },
    trustedRealmHosts,
    now: () => time,
  });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  const ask = (scope?: string) => `Bearer realm="${realmOrigin}/token",service="reg"${scope === undefined ? '' : `,scope="${scope}"`}`;
  return { server, client, authorizer, pass, ask };
}

describe('tokens', () => {
  it('are fetched for everybody, for what is asked and what is wanted', async () => {
    const { server, client, authorizer, ask } = await open();
    expect(await authorizer.authorize([push('a/b')])).toBeUndefined();
    expect(await authorizer.challenge(ask('repository:a/b:pull registry:catalog:*'), [push('a/b'), pull('c')], undefined)).toBe(true);
    expect(await authorizer.authorize([push('a/b')])).toBe('Bearer t1');
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'GET', path: '/token' });
    expect(seen?.headers.authorization).toBeUndefined();
    expect(seen?.query.getAll('service')).toEqual(['reg']);
    expect(seen?.query.getAll('scope')).toEqual(['registry:catalog:*', 'repository:a/b:pull,push', 'repository:c:pull']);
    expect(client.sent).toMatchObject([{ foundAt: server.origin }]);
  });

  it('serve a whole push, and what they do not cover gets its own', async () => {
    const { server, authorizer, ask } = await open();
    await authorizer.challenge(ask(), [push('a')], undefined);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer t1');
    expect(await authorizer.authorize([])).toBe('Bearer t1');
    expect(await authorizer.authorize([pull('b')])).toBe('Bearer t2');
    expect(await authorizer.authorize([push('a')])).toBe('Bearer t1');
    expect(server.seen).toHaveLength(2);
  });

  it('are fetched once for many that are refused together', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { server, authorizer, ask } = await open(async (_request, count) => {
      await released;
      return { body: { access_token: `t${count}` } };
    });
    const all = Array.from({ length: 10 }, () => authorizer.challenge(ask(), [pull('a')], undefined));
    release();
    expect(await Promise.all(all)).toEqual(Array.from({ length: 10 }, () => true));
    expect(await authorizer.challenge(ask(), [pull('a')], undefined)).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['no time', undefined, 45_000],
    ['less than a minute', 10, 45_000],
    ['no number', '3600', 45_000],
    ['two minutes', 120, 90_000],
    ['an hour', 3600, 3_570_000],
  ])('are renewed before they end: %s', async (_what, life, renewal) => {
    const { authorizer, pass, ask } = await open((_request, count) => ({ body: { token: `t${count}`, expires_in: life } }));
    await authorizer.challenge(ask(), [push('a')], undefined);
    pass(renewal - 1);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer t1');
    pass(1);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer t2');
    expect(await authorizer.authorize([push('a')])).toBe('Bearer t2');
  });

  it('are not fetched over and over for what they do not allow', async () => {
    const { server, authorizer, pass, ask } = await open();
    expect(await authorizer.challenge(ask(), [pull('a')], undefined)).toBe(true);
    expect(await authorizer.challenge(ask('repository:a:pull'), [pull('a')], 'Bearer t1')).toBe(false);
    expect(await authorizer.challenge(ask(), [pull('a')], 'Bearer t1')).toBe(false);
    expect(server.seen).toHaveLength(1);
    pass(2000);
    expect(await authorizer.challenge(ask(), [pull('a')], 'Bearer t1')).toBe(true);
    expect(await authorizer.challenge(ask(), [pull('a')], 'Bearer t1')).toBe(true);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer t2');
    expect(server.seen).toHaveLength(2);
  });

  it('are fetched again when more is asked for', async () => {
    const { authorizer, ask } = await open();
    await authorizer.challenge(ask(), [pull('a')], undefined);
    expect(await authorizer.challenge(ask('repository:library/a:pull'), [pull('a')], 'Bearer t1')).toBe(true);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer t2');
  });

  it('never loop with a service that gives one token for everything', async () => {
    const { authorizer, ask } = await open(() => ({ body: { token: 'same' } }));
    await authorizer.challenge(ask(), [pull('a')], undefined);
    await authorizer.challenge(ask(), [push('a')], 'Bearer same');
    expect(await authorizer.challenge(ask(), [push('a')], 'Bearer same')).toBe(false);
    expect(await authorizer.challenge(ask(), [pull('a')], 'Bearer same')).toBe(false);
  });

  it('can be given up', async () => {
    let arrived: (request: SeenRequest) => void = () => {};
    const arrival = new Promise<SeenRequest>((resolve) => {
      arrived = resolve;
    });
    const { authorizer, ask } = await open((request) => {
      arrived(request);
      return new Promise(() => {});
    });
    const controller = new AbortController();
    const challenged = authorizer.challenge(ask(), [], undefined, controller.signal);
    const { closed } = await arrival;
    controller.abort();
    await expect(challenged).rejects.toMatchObject({ code: 'core/cancelled' });
    await closed;
  });

  it.each(['', 'Negotiate', 'Bearer service="x"'])('are not fetched for %j', async (header) => {
    const { authorizer } = await open();
    expect(await authorizer.challenge(header, [pull('a')], undefined)).toBe(false);
    expect(await authorizer.authorize([pull('a')])).toBeUndefined();
  });
});

describe('a login', () => {
  it('goes to the token service as Basic', async () => {
    const { server, authorizer, ask } = await open(undefined, { credentials: ann });
    expect(await authorizer.challenge(`Basic realm="x", ${ask()}`, [pull('a')], undefined)).toBe(true);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer t1');
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([annBasic]);
  });

  it.each([404, 405])('goes by OAuth2 where GET is answered by %i', async (status) => {
    const answer = ({ method }: SeenRequest) => (method === 'GET' ? { status } : { body: { access_token: 'oauth' } });
    const { server, authorizer, ask } = await open(answer, { credentials: ann });
    await authorizer.challenge(ask(), [pull('b'), pull('a')], undefined);
    expect(await authorizer.authorize([pull('a')])).toBe('Bearer oauth');
    const [, posted] = server.seen;
    expect(posted?.headers).toMatchObject({ 'content-type': 'application/x-www-form-urlencoded' });
    expect(Object.fromEntries(posted?.form ?? [])).toEqual({
      grant_type: 'password',
      username: 'ann',
      password: 'hunter2',
      client_id: 'modelport',
      service: 'reg',
      scope: 'repository:a:pull repository:b:pull',
    });
  });

  it('may be an identity token; what comes in its place is used, as long as it is taken', async () => {
    const answer = ({ form }: SeenRequest, count: number) =>
      count === 2 || form.get('refresh_token') === 'first' ? { body: { access_token: `t${count}`, refresh_token: 'next' } } : { status: 401 };
    const { server, authorizer, pass, ask } = await open(answer, { credentials: { kind: 'identity-token', token: 'first' } });
    await authorizer.challenge(ask(), [pull('a')], undefined);
    for (const token of ['t2', 't4']) {
      pass(60_000);
      expect(await authorizer.authorize([pull('a')])).toBe(`Bearer ${token}`);
    }
    expect(server.seen.map(({ form }) => form.get('refresh_token'))).toEqual(['first', 'next', 'next', 'first']);
    expect(server.seen.map(({ form }) => form.get('grant_type'))).toEqual(server.seen.map(() => 'refresh_token'));
  });

  it('may be an access token, which goes to the registry alone', async () => {
    const { server, authorizer, ask } = await open(undefined, { credentials: { kind: 'registry-token', token: 'mine' } });
    expect(await authorizer.challenge(ask(), [pull('a')], undefined)).toBe(true);
    expect(await authorizer.authorize([push('b')])).toBe('Bearer mine');
    await expect(authorizer.challenge(ask(), [pull('a')], 'Bearer mine')).rejects.toMatchObject({ code: 'registry/login' });
    expect(server.seen).toEqual([]);
  });

  it('is sent as Basic to a registry that wants it so', async () => {
    const { server, authorizer } = await open(undefined, { credentials: ann });
    expect(await authorizer.challenge('Basic realm="x"', [pull('a')], undefined)).toBe(true);
    expect(await authorizer.authorize([push('b')])).toBe(annBasic);
    await expect(authorizer.challenge('Basic realm="x"', [], annBasic)).rejects.toMatchObject({
      code: 'registry/login',
      hint: `Log in: \`modelport login ${new URL(server.origin).host}\``,
    });
  });

  it('is missing, or of another kind, where Basic is asked for', async () => {
    const { authorizer } = await open();
    expect(await authorizer.challenge('Basic', [], undefined)).toBe(false);
    const other = await open(undefined, { credentials: { kind: 'identity-token', token: 'x' } });
    await expect(other.authorizer.challenge('Basic', [], undefined)).rejects.toMatchObject({ code: 'registry/login' });
  });
});

describe('another host', () => {
  const realmOrigin = 'https://tokens.example';

  it('is asked without the login', async () => {
    const { server, authorizer, ask } = await open(undefined, { credentials: ann, realmOrigin });
    expect(await authorizer.challenge(ask(), [pull('a')], undefined)).toBe(true);
    expect(server.seen.map(({ method, headers }) => [method, headers.authorization])).toEqual([['GET', undefined]]);
    await expect(authorizer.challenge(ask(), [pull('a')], 'Bearer t1')).rejects.toMatchObject({
      code: 'registry/login',
      message: /"tokens\.example"/,
    });
  });

  it('is named when it gives nothing', async () => {
    const { authorizer, ask } = await open(() => ({ status: 401 }), { credentials: ann, realmOrigin });
    await expect(authorizer.challenge(ask(), [pull('a')], undefined)).rejects.toMatchObject({
      code: 'registry/login',
      message: expect.stringContaining('"tokens.example"'),
      hint: expect.stringContaining('token_hosts'),
    });
  });

  it('gets the login when it is trusted', async () => {
    const { server, authorizer, ask } = await open(undefined, { credentials: ann, realmOrigin, trustedRealmHosts: ['tokens.example'] });
    await authorizer.challenge(ask(), [pull('a')], undefined);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([annBasic]);
  });

  it('is not asked over http', async () => {
    const { server, authorizer, ask } = await open(undefined, { realmOrigin: 'http://tokens.example' });
    await expect(authorizer.challenge(ask(), [], undefined)).rejects.toMatchObject({ code: 'registry/bad-address' });
    expect(server.seen).toEqual([]);
  });
});

describe('a token service that refuses', () => {
  const identity: Credentials = { kind: 'identity-token', token: 'hunter2' };
  it.each([
    [401, undefined, 'registry/login', 'without a login'],
    [403, undefined, 'registry/login', 'without a login'],
    [401, ann, 'registry/login', 'user name or password'],
    [403, ann, 'registry/denied', 'may not do this'],
    [400, identity, 'registry/login', 'identity token'],
    [401, identity, 'registry/login', 'identity token'],
    [400, ann, 'registry/bad-answer', 'answered 400'],
    [404, undefined, 'registry/bad-answer', 'answered 404'],
    [429, ann, 'registry/busy', 'wait 7 s'],
    [500, ann, 'registry/interrupted', 'answered 500'],
    [503, undefined, 'registry/interrupted', 'answered 503'],
  ] as const)('with %i: %o', async (status, credentials, code, reason) => {
    const { authorizer, ask } = await open(() => ({ status, headers: { 'retry-after': '7' } }), credentials === undefined ? {} : { credentials });
    const refusal: unknown = await authorizer.challenge(ask(), [pull('a')], undefined).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(reason) });
    expect(inspect(refusal)).not.toContain('hunter2');
  });

  it.each([
    ['no JSON', '{"token": "hunter2" nonsense'],
    ['a list', '["hunter2"]'],
    ['no token', { expires_in: 60, id_token: 'hunter2' }],
    ['a token that is no text', { token: 5 }],
    ['a token that would break the header', { token: 'hunter2\r\nx-evil: 1' }],
    ['too much', { token: 'hunter2', padding: 'x'.repeat(128 * 1024) }],
  ])('by answering %s', async (_what, body) => {
    const { authorizer, ask } = await open(() => ({ body }));
    const refusal: unknown = await authorizer.challenge(ask(), [pull('a')], undefined).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'registry/bad-answer' });
    expect(inspect(refusal)).not.toContain('hunter2');
  });

  it('does not bring the login elsewhere by a redirect', async () => {
    const { client, authorizer, ask } = await open(undefined, { credentials: identity });
    await authorizer.challenge(ask(), [], undefined);
    await expect(client.sent[0]?.body?.open()).rejects.toMatchObject({ code: 'registry/bad-address' });
  });
});
