import { collect } from '../../bytes/index.js';
import { createError, type Digest, isDigest, isJsonObject, parseJson } from '../../core/index.js';
import type { HttpClient } from '../../http/index.js';
import type { OpsContext } from '../context.js';
import { createFileClient } from '../registries.js';

export interface HubFile {
  readonly path: string;
  readonly digest: Digest;
  readonly url: string;
}

const defaultHub = 'https://huggingface.co';
const mostPages = 1000;

/**
 * The files of a model repository that Hugging Face knows by their SHA-256 (those in its large file storage), as it lists them. `HF_ENDPOINT` is
 * another hub. Without `@REVISION` the main branch: its links may lead to other bytes one day, which are then refused.
 */
export async function listHubFiles(word: string, context: OpsContext): Promise<readonly HubFile[]> {
  const match = /^([\w.-]+\/[\w.-]+)(?:@([\w./-]+))?$/.exec(word);
  if (match === null)
    throw createError('ops/bad-option', {
      message: `Cannot use --hf "${word}": expected ORG/REPO or ORG/REPO@REVISION`,
      hint: '--hf google/vit-base@main',
    });
  const [, repository = '', revision = 'main'] = match;
  const hub = (context.env['HF_ENDPOINT'] || defaultHub).replace(/\/+$/, '');
  const client = await createFileClient(context);
  const files: HubFile[] = [];
  let page: string | undefined = `${hub}/api/models/${repository}/tree/${encodeURIComponent(revision)}?recursive=true`;
  for (let pages = 0; page !== undefined; pages++) {
    if (pages === mostPages) throw badAnswer(word, `it lists more than ${mostPages} pages`);
    const { entries, next } = await readPage(page, word, client, context);
    for (const entry of entries) {
      const digest = digestOf(entry);
      const path = entry['path'];
      if (digest === undefined || typeof path !== 'string') continue;
      const url = `${hub}/${repository}/resolve/${encodeURIComponent(revision)}/${path.split('/').map(encodeURIComponent).join('/')}`;
      files.push({ path, digest, url });
    }
    page = next;
  }
  return files;
}

function digestOf({ lfs }: Readonly<Record<string, unknown>>): Digest | undefined {
  const oid = isJsonObject(lfs) ? lfs['oid'] : undefined;
  const digest = `sha256:${String(oid)}`;
  return isDigest(digest) ? digest : undefined;
}

async function readPage(url: string, word: string, client: HttpClient, { limits, signal }: OpsContext) {
  const response = await client.send({ method: 'GET', url, signal });
  if (response.status !== 200) {
    response.drop();
    throw createError('http/unreachable-file', {
      message: `Cannot list the files of "${word}": the hub answered ${response.status}`,
      hint:
        response.status === 401 || response.status === 404
          ? 'Check the name and the revision; private repositories cannot be listed'
          : 'Try again later',
    });
  }
  const parsed = parseJson(await collect(response.body, limits.manifestBytes, 'the list of files'), 'the list of files', {
    bytes: limits.manifestBytes,
  });
  if (!Array.isArray(parsed)) throw badAnswer(word, 'it is no list of files');
  const next = /<([^>]+)>\s*;\s*rel="?next"?/.exec(response.headers['link'] ?? '')?.[1];
  return { entries: parsed.filter(isJsonObject), next: next === undefined ? undefined : sameOrigin(next, url, word) };
}

/** A list goes on where it began. */
function sameOrigin(next: string, before: string, word: string): string {
  const resolved = new URL(next, before);
  if (resolved.origin !== new URL(before).origin) throw badAnswer(word, 'it goes on at another server');
  return resolved.href;
}

function badAnswer(word: string, reason: string): Error {
  return createError('http/unreachable-file', { message: `Cannot list the files of "${word}": the answer cannot be used, ${reason}` });
}
