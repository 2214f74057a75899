import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Registries } from './embedded-transfers.js';
import { findPeer } from './peers.js';
import { median } from './rounds.js';
import type { Bench, Table, Target } from './section.js';
import { onOneCore, type Registry, serve } from './served.js';

const connections = 16;
const rounds = 5;
const warmMs = 500;
const measuredMs = 2000;
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

export interface Gets {
  readonly table: Table;
  readonly targets: readonly Target[];
}

/** Requests for one small manifest by its tag, as fast as they are answered; the registry has one core, and who asks has the others. */
export async function measureGets({ say }: Bench, { ours, theirs, folder }: Registries): Promise<Gets> {
  const rates = new Map<Registry, number[]>([
    [theirs, []],
    [ours, []],
  ]);
  const canPin = findPeer('taskset') !== undefined && availableParallelism() > 1;
  for (let round = 0; round < (canPin ? rounds : 0); round++) {
    for (const registry of round % 2 === 0 ? [theirs, ours] : [ours, theirs]) {
      const rate = await measureRate(registry, join(folder, 'served'));
      say(`${round + 1}/${rounds}  ${registry.name}: ${rate.toFixed(0)} manifests a second`);
      rates.get(registry)?.push(rate);
    }
  }
  const other = rates.get(theirs) ?? [];
  const ratios = (rates.get(ours) ?? []).map((rate, round) => rate / (other[round] ?? NaN));
  const what = 'manifests a second on one core, modelport / docker-registry';
  return {
    table: {
      titles: [`manifest GET a second, ${connections} connections`, 'min', 'median', 'max'],
      rows: [...rates]
        .filter(([, each]) => each.length > 0)
        .map(([{ name }, each]) => [name, ...[Math.min(...each), median(each), Math.max(...each)].map((rate) => rate.toFixed(0))]),
    },
    targets: [{ what, unit: 'x', bound: 'at least', limit: 0.7, measured: ratios.length === 0 ? undefined : median(ratios) }],
  };
}

async function measureRate(registry: Registry, folder: string): Promise<number> {
  const served = await serve(registry, folder, onOneCore);
  try {
    await putPackage(registry);
    return await load(registry);
  } finally {
    await served.close();
  }
}

/** A manifest of one empty config. */
async function putPackage({ host }: Registry): Promise<void> {
  const config = { mediaType: 'application/vnd.oci.empty.v1+json', digest: digestOf('{}'), size: 2 };
  const begun = await fetch(`http://${host}/v2/bench/small/blobs/uploads/`, { method: 'POST' });
  const location = new URL(begun.headers.get('location') ?? '', `http://${host}`);
  location.searchParams.set('digest', config.digest);
  await assertCreated(fetch(location, { method: 'PUT', body: '{}', headers: { 'Content-Type': 'application/octet-stream' } }));
  const body = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers: [config] });
  await assertCreated(fetch(`http://${host}/v2/bench/small/manifests/v1`, { method: 'PUT', body, headers: { 'Content-Type': manifestType } }));
}

async function assertCreated(answer: Promise<Response>): Promise<void> {
  const { status, url } = await answer;
  if (status !== 201) throw new Error(`Cannot put ${new URL(url).pathname}: expected 201, found ${status}`);
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/**
 * Answers a second. Every connection asks again as soon as it has its answer. All answers are of one length, so that none of them needs to be looked at
 * but the first: who asks has a fraction of the work.
 */
async function load({ host }: Registry): Promise<number> {
  const [name = '', port] = host.split(':');
  const request = `GET /v2/bench/small/manifests/v1 HTTP/1.1\r\nHost: ${host}\r\nAccept: ${manifestType}\r\n\r\n`;
  let answers = 0;
  const sockets = Array.from({ length: connections }, () => {
    let length: number | undefined;
    let received = 0;
    const socket = connect(Number(port), name, () => socket.write(request));
    socket.setNoDelay(true);
    return socket.on('data', (bytes: Buffer) => {
      received += bytes.byteLength;
      length ??= toLength(bytes);
      if (received < length) return;
      received -= length;
      answers++;
      socket.write(request);
    });
  });
  await pause(warmMs);
  const [before, since] = [answers, performance.now()];
  await pause(measuredMs);
  const rate = (answers - before) / ((performance.now() - since) / 1000);
  for (const socket of sockets) socket.destroy();
  return rate;
}

/** Of a whole answer, which lies in its first bytes. */
function toLength(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  const head = text.indexOf('\r\n\r\n') + 4;
  const body = /^content-length: (\d+)\r$/im.exec(text.slice(0, head))?.[1];
  if (!text.startsWith('HTTP/1.1 200 ') || body === undefined)
    throw new Error(`Cannot measure: expected a manifest, found ${JSON.stringify(text.slice(0, 100))}`);
  return head + Number(body);
}
