import { describe, expect, it } from 'vitest';
import { say } from '../../../../test/support/listen-bench.js';
import type { RegistryResponse } from '../http.js';
import { createMetrics } from './metrics.js';
import { answerProbes, type ProbeSources } from './probes.js';

function probe(sources: Partial<ProbeSources>): (method: string, target: string) => Promise<RegistryResponse> {
  const handler = answerProbes({ findTrouble: async () => undefined, ...sources }, async () => say(404, 'next'));
  return (method, target) => handler({ method, target, headers: {}, body: (async function* () {})(), signal: new AbortController().signal });
}

const textOf = ({ body }: RegistryResponse) => Buffer.from((body as Uint8Array | undefined) ?? []).toString();

describe('probes', () => {
  it('say that the process answers and can serve', async () => {
    const ask = probe({});
    for (const target of ['/healthz', '/readyz', '/readyz?verbose']) {
      const response = await ask('GET', target);
      expect([response.status, textOf(response), response.subject]).toEqual([200, 'ok\n', { endpoint: 'probe' }]);
    }
  });

  it.each([
    ['draining', async () => 'draining', 'draining\n'],
    ['a store that fails', () => Promise.reject(new Error('/secret/path')), 'the store cannot be read\n'],
  ])('say that it cannot serve: %s', async (_, findTrouble, text) => {
    const ask = probe({ findTrouble });
    const response = await ask('GET', '/readyz');
    expect([response.status, textOf(response)]).toEqual([503, text]);
    expect((await ask('GET', '/healthz')).status).toBe(200);
  });

  it('give the metrics, where there are any', async () => {
    const ask = probe({ metrics: createMetrics({ countConnections: () => 0, countUploads: () => 0 }) });
    const response = await ask('GET', '/metrics');
    expect([response.status, response.headers['Content-Length'], response.subject]).toEqual([
      200,
      String(textOf(response).length),
      { endpoint: 'metrics' },
    ]);
    expect(textOf(response)).toContain('modelport_registry_requests_total');
    expect((await probe({})('GET', '/metrics')).status).toBe(404);
  });

  it('have no body for HEAD', async () => {
    const response = await probe({})('HEAD', '/healthz');
    expect([response.status, response.headers['Content-Length'], response.body]).toEqual([200, '3', undefined]);
  });

  it.each(['POST', 'PUT', 'DELETE'])('are not for %s', async (method) => {
    const response = await probe({})(method, '/readyz');
    expect([response.status, response.headers.Allow]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['/', '/v2/', '/healthz/', '/v2/healthz', '/constructor', '/HEALTHZ', 'healthz'])('leave %s to the registry', async (target) => {
    expect(textOf(await probe({})('GET', target))).toBe('next');
  });
});
