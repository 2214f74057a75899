import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startServedRegistry } from '../../support/served-registry.js';
import { until } from './until.js';
import type { Workplace } from './workplace.js';

/** A line of the access log, as far as the suite looks at it. */
export interface LoggedRequest {
  readonly method: string;
  readonly endpoint: string;
  readonly repository?: string;
  readonly reference?: string;
  readonly status: number;
  readonly bytesIn: number;
  readonly user?: string;
  readonly userAgent?: string;
}

/** `modelport registry serve` as it is shipped, in a process of its own. */
export interface EmbeddedRegistry {
  /** `127.0.0.1:PORT`, as it stands in the port file. */
  readonly host: string;
  /** The OCI layout that it serves. */
  readonly dir: string;
  /** What it has answered so far, by its access log. Without TLS only. */
  readRequests(): Promise<readonly LoggedRequest[]>;
  /** Ends it by SIGTERM; gives what it has complained of. Throws when it did not end well. */
  end(): Promise<string>;
  /** The same where no complaint is expected, which throws; nothing once it has ended. */
  close(): Promise<void>;
}

/** Over a folder that goes with it unless `args` name one. Close it, or open it through the workplace. */
export async function startEmbeddedRegistry(place: Workplace, args: readonly string[] = ['--tmp']): Promise<EmbeddedRegistry> {
  const [portFile, log] = [place.path('port'), place.path('access.log')];
  const around = { home: place.store, cwd: place.folder, env: { DOCKER_CONFIG: place.dockerConfig, TMPDIR: place.folder } };
  const { result, stop } = await startServedRegistry(['--port-file', portFile, '--access-log', log, ...args], around);
  let isEnded = false;
  const end = async () => {
    isEnded = true;
    const { code, stderr } = await stop();
    if (code !== 0) throw new Error(`modelport registry serve: exit status ${code}\n${stderr}`);
    return stderr;
  };
  return {
    host: readFileSync(portFile, 'utf8'),
    dir: result.dir,
    readRequests: () => readLog(log, result.url),
    end,
    close: async () => {
      const said = isEnded ? '' : await end();
      if (said !== '') throw new Error(`modelport registry serve complained:\n${said}`);
    },
  };
}

/** A line comes after its answer: all that was answered before is in the log once a request that is asked for last is. */
async function readLog(file: string, url: string): Promise<readonly LoggedRequest[]> {
  const last = `last-${randomUUID()}`;
  await (await fetch(`${url}/v2/${last}/tags/list`)).arrayBuffer();
  return until('the last line of the access log', () => {
    const requests = parseLog(readFileSync(file, 'utf8'));
    const end = requests.findIndex(({ repository }) => repository === last);
    return end >= 0 && requests.slice(0, end);
  });
}

/** The last line may be half written. */
function parseLog(text: string): LoggedRequest[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LoggedRequest);
}
