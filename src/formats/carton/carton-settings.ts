import { createError, type Description, type Finding } from '../../core/index.js';
import type { CartonWriteOptions } from './write-options.js';

/** What a person wrote for cartons alone, under `[format.carton]`. */
export interface CartonSettings {
  readonly runner?: string;
  readonly requirement?: string;
  readonly compatVersion?: number;
  readonly requiredPlatforms: readonly string[];
  readonly shortDescription?: string;
  readonly model?: string;
  readonly findings: readonly Finding[];
}

/** `links` is for whoever writes the file: it is left out only when all is hashed. */
const known = [
  'runner_name',
  'required_framework_version',
  'runner_compat_version',
  'required_platforms',
  'short_description',
  'model',
  'links',
  'compression',
];

/** Options of the command line win. Throws `carton/cannot-write` naming the key of a wrong value. */
export function readSettings({ format }: Description, options: CartonWriteOptions): CartonSettings {
  const written = format['carton'] ?? {};
  const runner = readText(written, 'runner_name');
  const requirement = options.frameworkVersion ?? readText(written, 'required_framework_version');
  const compatVersion = readCompatVersion(written['runner_compat_version']);
  const shortDescription = readText(written, 'short_description');
  const model = options.model ?? readText(written, 'model');
  return {
    ...(runner === undefined ? {} : { runner }),
    ...(requirement === undefined ? {} : { requirement }),
    ...(compatVersion === undefined ? {} : { compatVersion }),
    ...(shortDescription === undefined ? {} : { shortDescription }),
    ...(model === undefined ? {} : { model }),
    requiredPlatforms: options.requiredPlatforms ?? readTexts(written['required_platforms']) ?? options.source?.requiredPlatforms ?? [],
    findings: Object.keys(written)
      .filter((key) => !known.includes(key))
      .map(unknownKey),
  };
}

function readText(written: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = written[key];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw wrongValue(key, 'text in quotes', value);
}

function readTexts(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const texts: readonly unknown[] = Array.isArray(value) ? value : [];
  if (Array.isArray(value) && texts.every((text) => typeof text === 'string')) return texts;
  throw wrongValue('required_platforms', 'a list of target triples', value);
}

function readCompatVersion(value: unknown): number | undefined {
  if (value === undefined || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)) return value;
  throw wrongValue('runner_compat_version', 'a whole number that is not negative', value);
}

function wrongValue(key: string, expected: string, found: unknown): Error {
  return createError('carton/cannot-write', {
    message: `Cannot write a carton: [format.carton] ${key}: expected ${expected}, found ${JSON.stringify(found).slice(0, 80)}`,
    where: `format.carton.${key}`,
  });
}

function unknownKey(key: string): Finding {
  return {
    level: 'warning',
    code: 'carton/unknown-setting',
    message: `Nothing is known of ${JSON.stringify(key)}; under [format.carton] there are ${known.join(', ')}`,
    where: `format.carton.${key}`,
  };
}
