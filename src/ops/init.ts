import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../bytes/index.js';
import { createError, type Description } from '../core/index.js';
import { writeModelportToml } from '../buildfile/index.js';
import type { OpsContext } from './context.js';
import { describeFolder, type DescribedFolder, openFolder, suggestName } from './folder.js';
import { distinct } from './package.js';
import { toAbsolute } from './paths.js';
import type { InitResult } from './results.js';

export interface InitOptions {
  readonly dir: string;
  /** `-` only gives the text; absent: `modelport.toml` in the folder. */
  readonly output?: string;
  /** Replace an existing file. */
  readonly force?: boolean;
}

/** Writes down what `pack` would decide by itself, for a person to correct. */
export async function init(options: InitOptions, context: OpsContext): Promise<InitResult> {
  const dir = toAbsolute(options.dir, context);
  const path = options.output === undefined ? join(dir, 'modelport.toml') : toAbsolute(options.output, context);
  if (options.output !== '-' && options.force !== true && existsSync(path)) {
    throw createError('buildfile/exists', {
      message: `Cannot write "${path}": it exists already`,
      hint: 'Add --force to replace it, or -o - to see what would be written',
      where: path,
    });
  }
  const source = await openFolder(dir, options.dir, {}, context);
  const described = await describeFolder(source, context);
  const text = writeModelportToml(toDescription(described, suggestName(source)));
  const findings = distinct(described.pkg.findings);
  if (options.output === '-') return { path: null, text, findings };
  replaceFile(path, text);
  return { path, text, findings };
}

/** Globs by role stay as they were written; guessed roles are left to be guessed, so that a new file finds its role too. */
function toDescription({ pkg, description }: DescribedFolder, name: string): Description {
  const { paramSize, tensors: _tensors, ...weights } = pkg.weights;
  return {
    ...description,
    identity: { name, ...pkg.identity },
    weights: weights.parameters === undefined && paramSize !== undefined ? { ...weights, paramSize } : weights,
    capabilities: pkg.capabilities,
    inputs: pkg.io.inputs,
    outputs: pkg.io.outputs,
  };
}
