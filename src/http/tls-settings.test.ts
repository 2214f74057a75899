import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { certificate, createBenchClient, readAll, serve, serveTls } from '../../test/support/http-bench.js';

const { ca, cert, key } = certificate;

describe.each([0, 1 << 20])('TLS (long way from %i bytes on)', (expectedBytes) => {
  const get = async (url: string, options: Parameters<typeof createBenchClient>[0], network?: Parameters<typeof createBenchClient>[1]) => {
    const { body } = await createBenchClient(options, network).send({ method: 'GET', url, expectedBytes });
    return (await readAll(body)).toString();
  };
  const hello = () => serveTls((_, response) => response.end('hello'));

  it('trusts what it is told to, by address and by name', async () => {
    const { url, port } = await hello();
    expect(await get(url, { tls: { ca } })).toBe('hello');
    expect(await get(`https://localhost:${port}/`, { tls: { ca } })).toBe('hello');
  });

  it('trusts what NODE_EXTRA_CA_CERTS names beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'modelport-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'extra.pem'), ca);
    const { url } = await hello();
    expect(await get(url, { tls: { ca: cert }, env: { NODE_EXTRA_CA_CERTS: join(folder, 'extra.pem') } })).toBe('hello');
    await expect(get(url, { tls: { ca: '' }, env: { NODE_EXTRA_CA_CERTS: join(folder, 'none') } })).rejects.toMatchObject({
      code: 'registry/untrusted',
    });
  });

  it('trusts nobody else', async () => {
    const { url, host } = await hello();
    await expect(get(url, {})).rejects.toMatchObject({
      code: 'registry/untrusted',
      message: expect.stringContaining(`the certificate of "${host}": it was signed by an authority that this system does not know`),
      hint: expect.stringMatching(/--ca-file FILE.*--insecure/),
    });
  });

  it('refuses a certificate of another host', async () => {
    const { port } = await hello();
    const network = { resolve: async () => [{ address: '127.0.0.1', family: 4 }], isPublic: () => true };
    await expect(get(`https://hub.test:${port}/`, { tls: { ca } }, network)).rejects.toMatchObject({
      code: 'registry/untrusted',
      message: expect.stringContaining('made for another host'),
    });
  });

  it('checks nothing when told so', async () => {
    expect(await get((await hello()).url, { tls: { insecure: true } })).toBe('hello');
  });

  it('shows its own certificate', async () => {
    const handler: Parameters<typeof serveTls>[0] = (request, response) =>
      response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN);
    const server = await serveTls(handler, { requestCert: true, rejectUnauthorized: true, ca });
    expect(await get(server.url, { tls: { ca, cert, key } })).toBe('localhost');
    await expect(get(server.url, { tls: { ca } })).rejects.toMatchObject({ code: expect.stringMatching(/^registry\/(unreachable|interrupted)$/) });
  });

  it('says so when the server does not speak it', async () => {
    const { port } = await serve((_, response) => response.end());
    await expect(get(`https://127.0.0.1:${port}/`, { tls: { ca } })).rejects.toMatchObject({
      code: 'registry/unreachable',
      message: `Cannot reach "127.0.0.1:${port}": it does not speak TLS`,
      hint: expect.stringContaining('--plain-http'),
    });
  });

  it.each([
    { ca: 'no PEM', cert },
    { cert: 'no PEM', key },
    { cert, key: 'hunter2' },
  ])('refuses %o', async (tls) => {
    const { url } = await hello();
    await expect(get(url, { tls })).rejects.toMatchObject({ code: 'registry/untrusted', message: expect.not.stringContaining('hunter2') });
  });

  it('is not needed where there is none', async () => {
    const { url } = await serve((_, response) => response.end('plain'));
    expect(await get(url, { tls: { cert: 'no PEM' } })).toBe('plain');
  });
});

describe.each([0, 1 << 20])('IPv6 (long way from %i bytes on)', (expectedBytes) => {
  it('is spoken by address', async () => {
    const { url } = await serve((_, response) => response.end('six'), '::1');
    const { body } = await createBenchClient().send({ method: 'GET', url, expectedBytes });
    expect((await readAll(body)).toString()).toBe('six');
  });

  // By name: Node 22.23 finds no IPv6 address in any certificate.
  it('is spoken with TLS', async () => {
    const { port } = await serveTls((_, response) => response.end('six'), {}, '::1');
    const network = { resolve: async () => [{ address: '::1', family: 6 }], isPublic: () => true };
    const { body } = await createBenchClient({ tls: { ca } }, network).send({ method: 'GET', url: `https://localhost:${port}/`, expectedBytes });
    expect((await readAll(body)).toString()).toBe('six');
  });
});
