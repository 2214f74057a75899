import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileBlob, listBlobs, writeOneShard } from './data.js';
import type { Registries } from './embedded-transfers.js';
import { curlPush } from './floors.js';
import type { Command, Outcome } from './measure.js';
import { type Results, runStep, type Step } from './rounds.js';
import { toScript } from './script.js';
import type { Bench, Target } from './section.js';
import { type Registry, serve } from './served.js';

const clients = 64;

/** Of the model; 256 MiB of 2 GiB. */
const share = 8;

export interface Crowd {
  readonly steps: readonly Step[];
  readonly results: Results;
  readonly targets: readonly Target[];
}

/** Many at once that want the same blob, each of whom hashes what it gets. */
export async function measureCrowd(bench: Bench, { ours, theirs, folder }: Registries): Promise<Crowd> {
  const data = await writeOneShard(join(folder, 'one'), bench.options.size / share, bench.signal);
  const blobs = await listBlobs(data, bench.signal);
  const results = new Map<string, Outcome[]>();
  const memory = new Map<Registry, number | undefined>();
  const steps: Step[] = [];
  for (const registry of [theirs, ours]) {
    const url = `http://${registry.host}/v2/bench/one`;
    const name = `${clients} curl pull ${Math.round(data.bytes / 2 ** 20)} MiB from ${registry.name}`;
    const beside = steps[0]?.name;
    const step = { name, command: pullAtOnce(url, blobs), ...(beside === undefined ? {} : { ours: true, beside }) };
    const served = await serve(registry, join(folder, 'served'));
    try {
      await bench.meter.measure(curlPush(url, blobs));
      results.set(name, [await runStep(bench, step, '1/1', { folder, bytes: data.bytes })]);
      memory.set(registry, served.readMemory());
      steps.push(step);
    } finally {
      await served.close();
    }
  }
  rmSync(data.dir, { recursive: true, force: true });
  return { steps, results, targets: listTargets(results.get(steps[1]?.name ?? '')?.[0], memory.get(ours)) };
}

/** Says how many got the right bytes. */
function pullAtOnce(url: string, blobs: readonly FileBlob[]): Command {
  const one = 'curl -sSf --noproxy "*" "$0" | openssl dgst -sha256 -r';
  const script = 'one=$1 url=$2 hex=$3 count=$4; seq "$count" | xargs -I{} -P "$count" sh -c "$one" "$url" {} | grep -c "^$hex"';
  const digest = blobs[0]?.digest ?? '';
  return toScript(script, [one, `${url}/blobs/${digest}`, digest.replace('sha256:', ''), String(clients)]);
}

function listTargets(outcome: Outcome | undefined, memory: number | undefined): Target[] {
  const right = outcome?.kind === 'done' ? Number(outcome.stdout) : outcome && 0;
  return [
    {
      what: `of ${clients} pulls at once, failed or wrong`,
      unit: 'times',
      bound: 'at most',
      limit: 0,
      measured: right === undefined ? right : clients - right,
    },
    {
      what: `peak resident memory of the registry with ${clients} pulls at once`,
      unit: 'MB',
      bound: 'at most',
      limit: 250,
      measured: memory && memory / 1e6,
    },
  ];
}
