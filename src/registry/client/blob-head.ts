import type { Digest } from '../../core/index.js';
import type { Connection } from './connection.js';
import { endpoint } from './endpoint.js';

export interface NamedBlob {
  readonly digest: Digest;
  readonly size: number;
}

/** Whether a repository has a blob. One that says another size has another blob. (end-2) */
export async function hasBlob(connection: Connection, repository: string, blob: NamedBlob, signal: AbortSignal | undefined): Promise<boolean> {
  const response = await connection.call({
    action: `look for the blob ${blob.digest} in "${connection.address.host}/${repository}"`,
    method: 'HEAD',
    target: endpoint.blob(repository, blob.digest),
    scopes: [{ kind: 'repository', name: repository, actions: ['pull'] }],
    accepts: [200, 404],
    signal,
  });
  response.drop();
  const length = response.headers['content-length'];
  return response.status === 200 && (length === undefined || Number(length) === blob.size);
}
