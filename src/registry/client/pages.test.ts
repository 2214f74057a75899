import { describe, expect, it } from 'vitest';
import { createBench } from '../../../test/support/client-bench.js';
import { serve } from '../../../test/support/http-bench.js';
import { defaultLimits } from '../../core/index.js';

interface Page {
  readonly body: unknown;
  readonly link?: string;
  readonly type?: string;
}

/** Answers the first request for a list by the first page, and so on; the last one for ever. */
const answering = async (...pages: readonly Page[]) => {
  const asked: string[] = [];
  const server = await serve((request, response) => {
    asked.push(request.url ?? '');
    const { body, link, type = 'application/json' } = pages[Math.min(asked.length, pages.length) - 1] as Page;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response
      .writeHead(200, { 'content-type': type, ...(link === undefined ? {} : { link: link.replace('HOST', request.headers.host ?? '') }) })
      .end(text);
  });
  const { open, client } = createBench(server.host, { limits: { ...defaultLimits, manifestBytes: 10_000 } });
  const read = async () => {
    const tags: string[] = [];
    for await (const tag of open().listTags()) tags.push(tag);
    return tags;
  };
  return { asked, read, client, host: server.host };
};

const tags = (...names: unknown[]) => ({ name: 'demo/model', tags: names });

describe('pages of a list', () => {
  it.each([
    ['relative', '</v2/demo/model/tags/list?n=1&last=a>; rel="next"'],
    ['relative to the page', '<list?n=1&last=a>; rel=next'],
    ['whole', '<http://HOST/v2/demo/model/tags/list?n=1&last=a>; rel="next"'],
    ['without the port', '<http://127.0.0.1/v2/demo/model/tags/list?n=1&last=a>; rel="next"'],
    ['of another scheme', '<https://127.0.0.1/v2/demo/model/tags/list?n=1&last=a>; rel="next"'],
  ])('follow a %s address', async (_kind, link) => {
    const { asked, read } = await answering({ body: tags('a'), link }, { body: tags('b') });
    expect(await read()).toEqual(['a', 'b']);
    expect(asked).toEqual(['/v2/demo/model/tags/list?n=1000', '/v2/demo/model/tags/list?n=1&last=a']);
  });

  it.each(['</v2/x>; rel="prev"', '<http://[>; rel="next"', 'x', '', '</v2/x>'])('end where %j leads nowhere', async (link) => {
    const { asked, read } = await answering({ body: tags('a'), link });
    expect(await read()).toEqual(['a']);
    expect(asked.length).toBe(1);
  });

  it.each([
    ['in a circle', '</v2/demo/model/tags/list?last=a>; rel="next"', 2],
    ['to another host', '<https://other.test/v2/demo/model/tags/list>; rel="next"', 1],
    ['to a host with the same beginning', '<http://127.0.0.1.other.test/v2/>; rel="next"', 1],
    ['to an address inside', '<http://169.254.169.254/latest>; rel="next"', 1],
  ])('that lead %s are refused', async (_where, link, requests) => {
    const { asked, read } = await answering({ body: tags('a'), link });
    await expect(read()).rejects.toMatchObject({ code: 'registry/bad-answer' });
    expect(asked.length).toBe(requests);
  });

  it.each([
    ['a web page', { body: '<html>', type: 'text/html' }, 'registry/bad-answer'],
    ['no JSON', { body: 'tags' }, 'core/bad-json'],
    ['too long', { body: tags('x'.repeat(20_000)) }, 'bytes/limit'],
    ['nested too deep', { body: `{"tags":${'['.repeat(100)}${']'.repeat(100)}}` }, 'core/bad-json'],
  ])('that are %s are refused', async (_what, page, code) => {
    const { read } = await answering(page);
    await expect(read()).rejects.toMatchObject({ code });
  });

  it('hold names that are names', async () => {
    const hostile = ['../../x', 'a b', '\u001b[31m', '', '-x', '.x', 'x'.repeat(129), 'a/b', 'a:b', 5, null, {}, ['v2'], 'a\u202eb', 'a@sha256:x'];
    expect(await (await answering({ body: tags('v1', ...hostile, 'V_2.0-x') })).read()).toEqual(['v1', 'V_2.0-x']);
    for (const body of [{}, [], null, 5, { tags: null }, { tags: 'v1' }]) expect(await (await answering({ body })).read()).toEqual([]);
    const { client, host } = await answering({ body: { repositories: ['a/b', '../x', 'A', 'a//b', 7, '\u001b[2J', 'c'] } });
    const found: string[] = [];
    for await (const name of client.listRepositories(host)) found.push(name);
    expect(found).toEqual(['a/b', 'c']);
  });
});
