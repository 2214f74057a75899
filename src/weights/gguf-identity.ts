import type { Capabilities, Identity } from '../core/index.js';
import { findGgufFileType } from './gguf-types.js';
import { present } from './present.js';
import type { WeightFile } from './weight-file.js';

type Metadata = Readonly<Record<string, unknown>>;

/** Who the model is, from the `general.*` keys of a GGUF file. */
export function findGgufIdentity(metadata: Metadata): Partial<Identity> {
  const license = text(metadata, 'general.license');
  const author = text(metadata, 'general.author');
  return present<Identity>({
    name: text(metadata, 'general.name') ?? text(metadata, 'general.basename'),
    version: text(metadata, 'general.version'),
    description: text(metadata, 'general.description'),
    licenses: license === undefined ? undefined : [license],
    authors: author === undefined ? undefined : [author],
    vendor: text(metadata, 'general.organization'),
    family: text(metadata, 'general.architecture'),
    homepage: text(metadata, 'general.url'),
    repository: text(metadata, 'general.repo_url'),
  });
}

/** Languages of two letters, and text in and out for a model with a vocabulary that does not embed. */
export function findGgufCapabilities(metadata: Metadata): Partial<Capabilities> {
  const languages = list(metadata['general.languages']).filter((item) => /^[a-z]{2}$/.test(item));
  const generates = text(metadata, 'tokenizer.ggml.model') !== undefined && !(`${text(metadata, 'general.architecture')}.pooling_type` in metadata);
  return { ...(languages.length === 0 ? {} : { languages }), ...(generates ? { inputTypes: ['text'], outputTypes: ['text'] } : {}) };
}

/** `general.file_type`, else the tensor type with most bytes; undefined when that is no quantisation. */
export function findGgufQuantization(files: readonly WeightFile[]): string | undefined {
  const said = files.map((file) => findGgufFileType(file.metadata['general.file_type'])).find((word) => word !== undefined);
  if (said !== undefined) return ['F32', 'F16', 'BF16'].includes(said) ? undefined : said;
  const bytes = new Map<string, number>();
  for (const { dtype, bytes: size } of files.flatMap((file) => file.tensors)) bytes.set(dtype, (bytes.get(dtype) ?? 0) + size);
  const [largest] = [...bytes].toSorted((a, b) => b[1] - a[1]);
  return largest !== undefined && /^[A-Z]/.test(largest[0]) ? largest[0] : undefined;
}

function text(metadata: Metadata, key: string): string | undefined {
  const value = metadata[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
