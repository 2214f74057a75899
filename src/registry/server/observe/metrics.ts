import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** One request that is over. */
export interface RequestRecord {
  readonly method: string;
  readonly endpoint: string;
  readonly status: number;
  readonly seconds: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Asked when the metrics are read. */
export interface MetricsSources {
  readonly countConnections: () => number;
  readonly countUploads: () => number;
}

export interface Metrics {
  begin(): void;
  end(record: RequestRecord): void;
  /** Of a mirror: whether something was here already. */
  countMirror(outcome: 'hit' | 'miss'): void;
  countCollection(): void;
  /** In the text format of Prometheus. */
  write(): Promise<{ readonly contentType: string; readonly text: string }>;
}

interface Meters {
  readonly registry: Registry;
  readonly requests: Counter;
  readonly duration: Histogram;
  readonly received: Counter;
  readonly sent: Counter;
  readonly inFlight: Gauge;
  readonly mirror: Counter;
  readonly collections: Counter;
}

/** Others are `other`: a client must not be able to make up series. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** From a manifest on a fast disk to a large blob on a slow line, in seconds. */
const buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300, 1800];

/** More than can happen while the library is loaded. */
const mostEarly = 10_000;

/**
 * Counts from the start. The library behind it is loaded once the first request is over, so that the first answer does not wait for it (measured:
 * 50 ms); what happens meanwhile is kept and counted then.
 */
export function createMetrics(sources: MetricsSources): Metrics {
  let meters: Meters | undefined;
  let loading: Promise<Meters> | undefined;
  const early: ((meters: Meters) => void)[] = [];
  const load = () =>
    (loading ??= openMeters(sources).then((opened) => {
      meters = opened;
      for (const count of early.splice(0)) count(opened);
      return opened;
    }));
  const count = (change: (meters: Meters) => void) => {
    if (meters !== undefined) return change(meters);
    if (early.length < mostEarly) early.push(change);
  };
  return {
    begin: () => count(({ inFlight }) => inFlight.inc()),
    end: (record) => {
      count((opened) => countRequest(opened, record));
      // Whoever reads the metrics is told when that fails.
      if (loading === undefined) setImmediate(() => void load().catch(() => {}));
    },
    countMirror: (outcome) => count(({ mirror }) => mirror.inc({ outcome })),
    countCollection: () => count(({ collections }) => collections.inc()),
    write: async () => {
      const { registry } = await load();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function countRequest({ requests, duration, received, sent, inFlight }: Meters, record: RequestRecord): void {
  const method = methods.includes(record.method) ? record.method : 'other';
  const { endpoint } = record;
  inFlight.dec();
  requests.inc({ method, endpoint, status: String(record.status) });
  duration.observe({ method, endpoint }, record.seconds);
  received.inc(record.bytesIn);
  sent.inc(record.bytesOut);
}

/** In a registry of its own: several servers may run in one process. */
async function openMeters({ countConnections, countUploads }: MetricsSources): Promise<Meters> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `modelport_registry_${name}`, help, labelNames, registers: [registry] });
  const gauge = (name: string, help: string, read?: () => number) => {
    const collect = read === undefined ? {} : { collect: () => made.set(read()) };
    const made: Gauge = new Gauge({ name: `modelport_registry_${name}`, help, registers: [registry], ...collect });
    return made;
  };
  gauge('connections', 'Connections that are open', countConnections);
  gauge('uploads', 'Uploads that have begun and are not finished', countUploads);
  return {
    registry,
    requests: counter('requests_total', 'Requests that were answered', ['method', 'endpoint', 'status']),
    duration: new Histogram({
      name: 'modelport_registry_request_duration_seconds',
      help: 'From the head of a request to the last byte of its answer',
      labelNames: ['method', 'endpoint'],
      buckets,
      registers: [registry],
    }),
    received: counter('received_bytes_total', 'Bytes of bodies that came'),
    sent: counter('sent_bytes_total', 'Bytes of bodies that went'),
    inFlight: gauge('requests_in_flight', 'Requests that are being answered'),
    mirror: counter('mirror_requests_total', 'What a mirror was asked for: here already, or not', ['outcome']),
    collections: counter('collections_total', 'Runs of the garbage collector'),
  };
}
