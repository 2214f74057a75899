import { createHash } from 'node:crypto';
import { collect, openPart } from '../../bytes/index.js';
import type { Finding, Limits, Part } from '../../core/index.js';
import { writeToml } from '../../text/index.js';

export const lockPath = '.carton/carton.lock';
const requirementsPath = 'requirements.txt';

export interface PlannedLock {
  /** Absent when the model brings its own. */
  readonly text?: string;
  readonly findings: readonly Finding[];
}

/**
 * The lock file of the python runner, which refuses a model without one. Nothing is resolved online: without a lock one is written that fits
 * every environment and locks nothing. `parts` are those below model/, by their path there.
 */
export async function planPythonLock(parts: readonly Pick<Part, 'path' | 'content'>[], limits: Limits): Promise<PlannedLock> {
  const find = (path: string) => parts.find((part) => part.path === path);
  if (find(lockPath) !== undefined) return { findings: [] };
  const requirements = find(requirementsPath);
  const bytes =
    requirements === undefined ? new Uint8Array(0) : await collect(await openPart(requirements.content), limits.personFileBytes, requirementsPath);
  const loose = findUnpinned(Buffer.from(bytes).toString('utf8'));
  return { text: writeEmptyLock(bytes), findings: loose === undefined ? [] : [unpinned(loose)] };
}

/** One entry without markers, so that it fits everywhere. `bytes` are those of requirements.txt. */
function writeEmptyLock(bytes: Uint8Array): string {
  return writeToml({ orig_deps_hash: createHash('sha256').update(bytes).digest('hex'), lockfile: [{ locked_deps: [] }] });
}

/** The first requirement that is not tied to its bytes by `--hash`, or that leads to another file. */
function findUnpinned(text: string): string | undefined {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  const requirements = lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '' && !isHarmlessOption(line));
  return requirements.find((line) => !/\s--hash[= ]\S/.test(line));
}

/** `-r`, `-c` and `-e` name other things to install; the rest says where or how. */
function isHarmlessOption(line: string): boolean {
  return line.startsWith('-') && !/^(-r|-c|-e|--requirement|--constraint|--editable)\b/.test(line);
}

function unpinned(requirement: string): Finding {
  return {
    level: 'warning',
    code: 'carton/unpinned-environment',
    message: `The environment of the model is not pinned: ${JSON.stringify(requirement.slice(0, 120))} in requirements.txt has no --hash`,
    where: requirementsPath,
    hint: 'Write it with `pip-compile --generate-hashes`, or bring a .carton/carton.lock',
  };
}
