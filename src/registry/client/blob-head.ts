import { createError, type Digest } from '../../core/index.js';
import type { Connection } from './connection.js';
import { endpoint } from './endpoint.js';

export interface NamedBlob {
  readonly digest: Digest;
  readonly size: number;
}

/** Whether a repository has a blob. One that says another size has another blob. (end-2) */
export async function hasBlob(connection: Connection, repository: string, blob: NamedBlob, signal: AbortSignal | undefined): Promise<boolean> {
  const { status, length } = await askForBlob(connection, repository, blob.digest, signal);
  return status === 200 && (length === undefined || length === blob.size);
}

/** The size of a blob that is known by its digest alone; undefined when it is not there. (end-2) */
export async function findBlobSize(
  connection: Connection,
  repository: string,
  digest: Digest,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { status, length } = await askForBlob(connection, repository, digest, signal);
  if (status === 404) return undefined;
  if (length !== undefined && Number.isSafeInteger(length) && length >= 0) return length;
  throw createError('registry/unsupported', {
    message: `Cannot use the blob ${digest} of "${connection.address.host}/${repository}": the registry does not say how large it is`,
    where: connection.address.host,
  });
}

async function askForBlob(connection: Connection, repository: string, digest: Digest, signal: AbortSignal | undefined) {
  const response = await connection.call({
    action: `look for the blob ${digest} in "${connection.address.host}/${repository}"`,
    method: 'HEAD',
    target: endpoint.blob(repository, digest),
    scopes: [{ kind: 'repository', name: repository, actions: ['pull'] }],
    accepts: [200, 404],
    signal,
  });
  response.drop();
  const length = response.headers['content-length'];
  return { status: response.status, length: length === undefined ? undefined : Number(length) };
}
