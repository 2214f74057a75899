import { bytesAnswer, withoutBody } from '../answers.js';
import type { RegistryHandler, RegistryRequest, RegistryResponse, RequestSubject } from '../http.js';
import { Refusal, toAnswer } from '../refusal.js';
import type { Metrics } from './metrics.js';

export interface ProbeSources {
  /** Why requests had better go elsewhere, in a few words without paths; undefined when they need not. A failure counts as a reason. */
  readonly findTrouble: () => Promise<string | undefined>;
  readonly metrics?: Metrics | undefined;
}

const text = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };

/** `/healthz`: the process answers. `/readyz`: it can serve, 503 when not. `/metrics`: what Prometheus reads. */
export function answerProbes(sources: ProbeSources, next: RegistryHandler): RegistryHandler {
  const probes: Readonly<Record<string, () => Promise<RegistryResponse>>> = {
    '/healthz': async () => plain(200, 'ok', 'probe'),
    '/readyz': async () => {
      const trouble = await findTrouble(sources);
      return plain(trouble === undefined ? 200 : 503, trouble ?? 'ok', 'probe');
    },
    ...(sources.metrics === undefined ? {} : { '/metrics': writeMetrics(sources.metrics) }),
  };
  return async (request) => {
    const [path = ''] = request.target.split('?', 1);
    const probe = Object.hasOwn(probes, path) ? probes[path] : undefined;
    if (probe === undefined) return next(request);
    if (!isReading(request)) return refuse(request);
    const response = await probe();
    return request.method === 'HEAD' ? withoutBody(response) : response;
  };
}

async function findTrouble(sources: ProbeSources): Promise<string | undefined> {
  try {
    return await sources.findTrouble();
  } catch {
    return 'the store cannot be read';
  }
}

function writeMetrics(metrics: Metrics): () => Promise<RegistryResponse> {
  return async () => {
    const { contentType, text: body } = await metrics.write();
    return bytesAnswer(200, Buffer.from(body), { 'Content-Type': contentType }, { endpoint: 'metrics' });
  };
}

function plain(status: number, line: string, endpoint: string): RegistryResponse {
  return bytesAnswer(status, Buffer.from(`${line}\n`), text, { endpoint });
}

function isReading({ method }: RegistryRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refuse({ method }: RegistryRequest): RegistryResponse {
  const subject: RequestSubject = { endpoint: 'probe' };
  return toAnswer(new Refusal(405, 'UNSUPPORTED', `${method} means nothing here`, { headers: { Allow: 'GET, HEAD' } }), subject);
}
