import type { Digest, Identity, ModelPackage } from '../../core/index.js';
import { configFields, draftListSeparator } from './config-fields.js';
import { draftPrefix } from './spec.js';

type Described = Pick<ModelPackage, 'identity' | 'weights' | 'capabilities'>;

/** The model config of `cncf` and `cnai`: valid against the upstream schema. (config.md, Properties) */
export function toModelConfig(described: Described, diffIds: readonly Digest[]): object {
  const sections: Record<'descriptor' | 'config' | 'capabilities', Record<string, unknown>> = { descriptor: {}, config: {}, capabilities: {} };
  for (const field of configFields) {
    const value = neutralValue(described, field.neutral);
    if (value !== undefined) sections[field.section][field.name] = value;
  }
  const { descriptor, config, capabilities } = sections;
  return {
    descriptor,
    config: Object.keys(capabilities).length === 0 ? config : { ...config, capabilities },
    modelfs: { type: 'layers', diffIds },
  };
}

/** The draft says the same in annotations of the manifest, lists joined into one text. (draft, Manifest Annotation Keys) */
export function toDraftAnnotations(described: Described): Record<string, string> {
  const annotations: Record<string, string> = {};
  for (const field of configFields) {
    const value = neutralValue(described, field.neutral);
    // Capabilities, the only values that are neither, have no annotation.
    if (field.draft === undefined || (typeof value !== 'string' && !Array.isArray(value))) continue;
    annotations[draftPrefix + field.draft] = Array.isArray(value) ? value.join(draftListSeparator) : value;
  }
  if (described.identity.homepage !== undefined) annotations[`${draftPrefix}url`] = described.identity.homepage;
  return annotations;
}

/** An ordinary image config, the same on every machine. (image-spec config.md) */
export function toImageConfig(identity: Identity, diffIds: readonly Digest[], platform: string): object {
  const [os = 'linux', architecture = 'amd64', variant] = platform.split('/');
  return {
    ...(identity.createdAt === undefined ? {} : { created: identity.createdAt }),
    architecture,
    os,
    ...(variant === undefined ? {} : { variant }),
    config: {},
    rootfs: { type: 'layers', diff_ids: diffIds },
  };
}

function neutralValue(described: Described, neutral: (typeof configFields)[number]['neutral']): unknown {
  const value = (described[neutral.view] as Readonly<Record<string, unknown>>)[neutral.key];
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}
