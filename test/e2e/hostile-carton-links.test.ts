/** LINKS that lies: nothing is asked that must not be, nothing wrong is used, and nothing wrong stays in the cache. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CartonOutcomes, type CartonSandbox, createCartonSandbox, hostileCarton, type Verb } from '../support/hostile-carton.js';
import { expectRefusal } from '../support/hostile-carton-verdicts.js';
import { type FileServer, serveFile } from '../support/file-server.js';
import { listComplaints } from '../support/hostile-verbs.js';
import { listTree } from '../support/list-tree.js';

let sandbox: CartonSandbox;
beforeEach(() => {
  sandbox = createCartonSandbox();
});
afterEach(() => sandbox.close());

const away = 'far away';
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const linksTo = (...urls: readonly string[]) => `version = 1\n\n[urls]\n${hashOf(away)} = ${JSON.stringify(urls)}\n`;
const put = (links: string) => sandbox.put(hostileCarton({ promised: { 'model/b': away }, files: { LINKS: links } }));

/** Those that need the file; the others never ask anybody. */
const users: readonly Verb[] = ['unpack', 'run', 'test', 'copy --inflate'];
const others: readonly Verb[] = ['inspect', 'ls', 'cat', 'validate', 'verify', 'examples', 'copy to a file', 'copy to an artifact', 'shrink'];

function expectRefused(outcomes: CartonOutcomes, words: RegExp): void {
  for (const verb of users) expectRefusal(verb, outcomes, words, 3);
  for (const verb of others) expect([verb, outcomes[verb].kind]).toEqual([verb, 'result']);
  expect(listCached()).toEqual([]);
}

/** Files that the cache holds. */
function listCached(): string[] {
  const home = join(sandbox.base, 'home');
  return existsSync(home)
    ? listTree(home).flatMap(({ path, found }) => (found.isFile() && readFileSync(join(home, path)).includes(away) ? [path] : []))
    : [];
}

describe('addresses that are not asked', () => {
  it.each([
    ['a file', 'file:///etc/passwd', /file.*scheme "file:"/],
    ['no URL', '../../etc/passwd', /it is not a URL/],
    ['data', `data:text/plain,${encodeURIComponent(away)}`, /scheme "data:"/],
    ['ftp', 'ftp://example.com/x', /scheme "ftp:"/],
    ['http to another host', 'http://models.example/x', /it is http, and anybody/],
    ['http inside a private network', 'http://10.0.0.1/x', /it is http, and anybody/],
    ['http to the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/', /it is http, and anybody/],
    ['a password', 'https://me:secret@models.example/x', /user or a password/],
    ['an escape sequence', 'https://models.example/\u001b[2J', /link-failed/],
  ])('%s', async (_, url, words) => {
    put(linksTo(url));
    const outcomes = await sandbox.tryAll(url.startsWith('https:') && !url.includes('@') ? { context: { network: { offline: true } } } : {});
    if (url.includes('\u001b')) for (const verb of users) expect(listComplaints(outcomes[verb])[0]).not.toContain('\u001b');
    else expectRefused(outcomes, words);
    for (const verb of users) expect(listComplaints(outcomes[verb])[0]).not.toContain('secret');
  });
});

describe('servers that lie', () => {
  let server: FileServer;

  it.each([
    ['other bytes', (): Buffer => Buffer.from('other bytes'), /expected sha256:[0-9a-f]{64}, found sha256:[0-9a-f]{64}/],
    ['less than all', (): Buffer => Buffer.from(away.slice(1)), /expected sha256/],
    ['nothing', (): Buffer => Buffer.alloc(0), /expected sha256/],
  ])('%s', async (_, bytes, words) => {
    server = await serveFile(bytes());
    put(linksTo(`${server.url}/b`));
    expectRefused(await sandbox.tryAll(), words);
  });

  it('more than is allowed', async () => {
    server = await serveFile(Buffer.alloc(100_000));
    put(linksTo(`${server.url}/b`));
    expectRefused(await sandbox.tryAll({ limits: { linkedBytes: 50_000 } }), /larger than 50000 bytes/);
  });

  it('a content encoding that is none', async () => {
    server = await serveFile(Buffer.from(away), { encoding: 'gzip' });
    put(linksTo(`${server.url}/b`));
    expectRefused(await sandbox.tryAll(), /link-failed/);
  });

  it('a bad URL before a good one costs nothing', async () => {
    server = await serveFile(Buffer.from(away));
    put(linksTo('file:///etc/passwd', `${server.url}/b`));
    const outcomes = await sandbox.tryAll({ only: users });
    for (const verb of users) expect([verb, outcomes[verb].kind]).toEqual([verb, 'result']);
  });

  it('of a list without end the first hundred are tried', async () => {
    server = await serveFile(Buffer.from('other bytes'));
    put(linksTo(...Array.from({ length: 5000 }, (_, at) => `${server.url}/${at}`)));
    const { unpack } = await sandbox.tryAll({ only: ['unpack'] });
    expect(listComplaints(unpack)[0]).toMatch(/http\/link-failed/);
    expect(server.requests.length).toBe(100);
  });

  it('what is damaged in the cache is not used, offline neither', async () => {
    server = await serveFile(Buffer.from(away));
    put(linksTo(`${server.url}/b`));
    await sandbox.tryAll({ only: ['unpack'] });
    const [cached] = listCached();
    appendFileSync(join(sandbox.base, 'home', cached ?? 'nothing was kept'), '!');
    const offline = await sandbox.tryAll({ only: users, context: { network: { offline: true } } });
    for (const verb of users) expect(listComplaints(offline[verb])[0]).toMatch(/http\/offline.*"model\/b"/);
    const { unpack } = await sandbox.tryAll({ only: ['unpack'] });
    expect(unpack.kind).toBe('result');
    expect(server.requests.length).toBe(2);
  });
});

describe('paths and documents', () => {
  it.each([
    ['A1 out of the package', '../../x', /bad-manifest|cannot-write.*"\.\.\/\.\.\/x"/],
    ['A2 absolute', '/etc/x', /"\/etc\/x".*absolute/],
    ['A14 below a file', 'model/a/b', /model\/a.*(beside each other|folder)/],
    ['a line break', 'model/x\ny', /line \d+ of MANIFEST/],
  ])('a linked file %s is never fetched', async (_, path, words) => {
    const server = await serveFile(Buffer.from(away));
    const listed = `${path}=${hashOf(away)}\n`;
    sandbox.put(hostileCarton({ files: { LINKS: linksTo(`${server.url}/b`) }, manifest: (text) => text + listed }));
    const outcomes = await sandbox.tryAll();
    expectRefusal('copy --inflate', outcomes, words);
    expect(outcomes.unpack).toMatchObject({ kind: 'error', exitCode: 1 });
    expect(listComplaints(outcomes.inspect)).toContainEqual(expect.stringMatching(/bad-manifest|same-path/));
  });

  it.each([
    ['another version', 'version = 2\n[urls]\n', /version = 1, found "2"/],
    ['no TOML', 'version = ', /LINKS.*TOML/],
    ['no list', `version = 1\n[urls]\n${'ab'.repeat(32)} = "https://models.example/x"\n`, /list of URLs/],
    ['no hash', 'version = 1\n[urls]\nmodel = ["https://models.example/x"]\n', /no SHA-256/],
    ['a million tables', `version = 1\nu = [${'{},'.repeat(1_000_001)}]\n`, /more than 2000000 values/],
  ])('LINKS: %s', async (_, links, words) => {
    sandbox.put(hostileCarton({ files: { LINKS: links } }));
    const { inspect, validate } = await sandbox.tryAll({ only: ['inspect', 'validate'] });
    expect(listComplaints(inspect)).toContainEqual(expect.stringMatching(words));
    expect(validate).toMatchObject({ result: { valid: false } });
    expect(validate).toMatchObject({
      result: { findings: expect.arrayContaining([expect.objectContaining({ where: expect.stringMatching(/^LINKS/) })]) },
    });
  });
});
