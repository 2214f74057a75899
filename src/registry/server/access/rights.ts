export type Right = 'delete' | 'pull' | 'push';

export const allRights: ReadonlySet<Right> = new Set<Right>(['pull', 'push', 'delete']);

/** What a request needs: nothing, to be somebody, or a right. */
export type Need = Right | 'login' | 'nothing';

const probes = ['/healthz', '/readyz'];

/** Upload ids of ours are 32 hex digits, so that nothing that is encoded or named alike passes for one. */
const upload = /^\/v2\/.+\/blobs\/uploads\/[0-9a-f]{32}$/;

/** Judged from the request line alone, before anything is looked up. */
export function findNeed(method: string, target: string): Need {
  const [path = ''] = target.split('?', 1);
  const isReading = method === 'GET' || method === 'HEAD';
  if (isReading && probes.includes(path)) return 'nothing';
  // Clients learn here that there is a login, also where reading needs none.
  if (isReading && (path === '/v2/' || path === '/v2')) return 'login';
  if (isReading) return 'pull';
  return method === 'DELETE' && !upload.test(path) ? 'delete' : 'push';
}
