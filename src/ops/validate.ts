import { createError, hasErrors } from '../core/index.js';
import { detectFormat } from '../formats/index.js';
import { completeLinked } from './complete-samples.js';
import type { OpsContext } from './context.js';
import { describeFolder } from './folder.js';
import { describeForeign } from './foreign.js';
import { distinct, unknownFiles } from './package.js';
import type { ValidateResult } from './results.js';
import { openSource } from './source.js';

export interface ValidateOptions {
  readonly location: string;
  /** Warnings count as errors. */
  readonly strict?: boolean;
  /** Also what is only linked: fetched and hashed. */
  readonly links?: boolean;
}

/** The rules of the package's specification, one finding a breach; of a bare folder, what would keep `pack` from working. */
export async function validate(options: ValidateOptions, context: OpsContext): Promise<ValidateResult> {
  const source = await openSource(options.location, context);
  const detected = source.kind === 'folder' ? undefined : await detectFormat(source);
  if (detected === undefined && source.kind === 'files') throw unknownFiles(source);
  if (detected === undefined && source.kind === 'oci') {
    // Throws what is wrong with a document that is no manifest at all.
    const { format } = await describeForeign(source, context);
    throw createError('format/unknown', {
      message: `Cannot validate "${options.location}": it is an ${format}, not a package of a format that modelport knows`,
      hint: '`modelport inspect` says what it is',
    });
  }
  const raw =
    source.kind === 'folder'
      ? (await describeFolder(source, context)).pkg.findings
      : await detected?.reader.validate((options.links === true ? await completeLinked(source, context) : undefined) ?? source, {
          limits: context.limits,
        });
  const findings = distinct(raw ?? []);
  const failing = options.strict === true ? findings.some((finding) => finding.level !== 'note') : hasErrors(findings);
  return {
    format: detected?.reader.id ?? 'folder',
    ...(detected?.vintage === undefined ? {} : { vintage: detected.vintage }),
    valid: !failing,
    findings,
  };
}
