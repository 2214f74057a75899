import { createError, hasErrors, type ModelPackage } from '../core/index.js';
import { applySettings } from './identity-fields.js';

export interface PackOptions {
  readonly dir: string;
  /** `modelpack` or `carton`. */
  readonly format: string;
  /** Name in the local store, or inside `output`. */
  readonly name?: string;
  /** File or folder to write. */
  readonly output?: string;
  readonly vintage?: string;
  /** `raw`, or `role=tar+gzip`. */
  readonly layers?: readonly string[];
  /** Also an image-shaped sibling, named `TAG-image`. */
  readonly hybrid?: boolean;
  /** modelport.toml, Modelfile or Kitfile; absent: the one in the folder, if any. */
  readonly file?: string;
  /** `key=value`, over everything that was found. */
  readonly set?: readonly string[];
  /** `os/architecture` of what has an image config. */
  readonly platform?: string;
  /** Of a carton: what runs it, and the framework versions that it needs, as a Rust semver requirement. */
  readonly runner?: string;
  readonly frameworkVersion?: string;
  /** Of a carton: `NAME=VALUE` for the runner. */
  readonly opts?: readonly string[];
  /** Of a carton: the files of the model with zstd. They can no longer be read by range then. */
  readonly compress?: boolean;
}

export function withSettings(pkg: ModelPackage, settings: Parameters<typeof applySettings>[1]): ModelPackage {
  return settings.length === 0 ? pkg : { ...pkg, ...applySettings(pkg, settings) };
}

export function assertPackable(pkg: ModelPackage, options: Pick<PackOptions, 'dir'>): void {
  const first = pkg.findings.find((finding) => finding.level === 'error');
  if (first !== undefined) {
    throw createError('ops/refused', {
      message: `Cannot pack "${options.dir}": ${first.message}`,
      where: first.where,
      hint: first.hint ?? 'See `modelport validate` for everything that is wrong',
      findings: pkg.findings.filter((finding) => hasErrors([finding])),
    });
  }
  if (pkg.parts.length === 0)
    throw createError('ops/nothing-to-pack', {
      message: `Cannot pack "${options.dir}": it holds no file`,
      hint: 'Hidden files and what [files] ignore names are left out',
    });
}
