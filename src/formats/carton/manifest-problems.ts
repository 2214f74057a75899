import { judgePath } from '../../bytes/index.js';
import type { Finding, Limits } from '../../core/index.js';
import type { Manifest, ManifestLine } from './carton.js';
import { manifestName, unlisted } from './spec.js';

/** Lines that no file can be verified by: errors `carton/bad-manifest` with the line. What is only against the form is for the rules. */
export function listManifestProblems({ lines }: Manifest, limits: Limits): Finding[] {
  const first = new Map<string, ManifestLine>();
  return lines.flatMap((line) => {
    const earlier = first.get(line.path);
    if (earlier === undefined) first.set(line.path, line);
    const reason = judgeLine(line, limits) ?? (earlier === undefined ? undefined : explainTwice(earlier, line));
    return reason === undefined ? [] : [toFinding(line, reason)];
  });
}

function judgeLine({ text, path, sha256 }: ManifestLine, limits: Limits): string | undefined {
  if (text === '') return 'it is empty';
  if (sha256 === undefined) return 'expected PATH=SHA256, found no "="';
  if (!/^[0-9a-f]{64}$/i.test(sha256)) return `expected 64 hex digits after "=", found ${JSON.stringify(sha256.slice(0, 80))}`;
  if (unlisted.includes(path)) return `${path} does not belong into it`;
  const reason = judgePath(path, limits);
  return reason === undefined ? undefined : `cannot use the path ${JSON.stringify(path)}: ${reason}`;
}

function explainTwice(earlier: ManifestLine, { path, sha256 }: ManifestLine): string {
  const isSame = earlier.sha256?.toLowerCase() === sha256?.toLowerCase();
  return `${JSON.stringify(path)} stands in line ${earlier.line} already${isSame ? '' : ', with another hash'}`;
}

function toFinding({ line }: ManifestLine, reason: string): Finding {
  return {
    level: 'error',
    code: 'carton/bad-manifest',
    message: `Cannot use line ${line} of ${manifestName}: ${reason}`,
    where: `${manifestName}:${line}`,
    hint: 'Pack the model again',
  };
}
