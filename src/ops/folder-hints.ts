import { detectLicense, parseReadme, readmeBytes } from '../buildfile/index.js';
import { collect, openPart } from '../bytes/index.js';
import type { Capabilities, Finding, Identity, Part } from '../core/index.js';
import type { OpsContext } from './context.js';

export interface FolderHints {
  readonly identity: Identity;
  readonly capabilities: Capabilities;
  readonly findings: readonly Finding[];
}

const readmeName = /^readme(\.md|\.markdown|\.txt)?$/i;
const licenseName = /^(licen[cs]e|copying)(\.(md|txt))?$/i;

/** What README and licence text at the top of the folder say. The text of a licence wins over its name in the README. */
export async function readHints(parts: readonly Part[], context: OpsContext): Promise<FolderHints> {
  const readme = parts.find((part) => readmeName.test(part.path));
  const license = parts.find((part) => licenseName.test(part.path));
  const said = readme === undefined ? undefined : await parseReadme(await readStart(readme), readme.path, context.limits);
  const detected = license === undefined ? undefined : detectLicense(await readStart(license));
  return {
    identity: { ...said?.identity, ...(detected === undefined ? {} : { licenses: [detected] }) },
    capabilities: said?.capabilities ?? {},
    findings: said?.findings ?? [],
  };
}

async function readStart(part: Part): Promise<string> {
  const end = Math.min(part.size, readmeBytes);
  const bytes = await collect(await openPart(part.content, { start: 0, end }), readmeBytes, part.path);
  return new TextDecoder().decode(bytes);
}
