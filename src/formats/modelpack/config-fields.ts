import type { Capabilities, Identity, WeightsSummary } from '../../core/index.js';

/** Where a field stands in the config: at the top level objects, or below `config.capabilities`. */
export type ConfigSection = 'descriptor' | 'config' | 'capabilities';

export type NeutralField =
  | { readonly view: 'identity'; readonly key: keyof Identity }
  | { readonly view: 'weights'; readonly key: Exclude<keyof WeightsSummary, 'tensors' | 'parameters'> }
  | { readonly view: 'capabilities'; readonly key: keyof Capabilities };

/** One field of the model config, its neutral place, and every name it ever had. (cncf config.md, Properties) */
export interface ConfigField {
  readonly section: ConfigSection;
  readonly name: string;
  readonly type: 'string' | 'strings' | 'boolean';
  readonly neutral: NeutralField;
  /** Its manifest annotation in the draft, after `draftPrefix`. */
  readonly draft?: string;
  /** Names in earlier releases; read, never written. */
  readonly former?: readonly string[];
}

const identity = (key: keyof Identity): NeutralField => ({ view: 'identity', key });
const weights = (key: Exclude<keyof WeightsSummary, 'tensors' | 'parameters'>): NeutralField => ({ view: 'weights', key });
const capability = (key: keyof Capabilities): NeutralField => ({ view: 'capabilities', key });

/** In the order in which a config is written. Reading, writing, the draft's annotations and the rules all derive from it. */
export const configFields: readonly ConfigField[] = [
  { section: 'descriptor', name: 'createdAt', type: 'string', neutral: identity('createdAt'), draft: 'created', former: ['createTime'] },
  { section: 'descriptor', name: 'authors', type: 'strings', neutral: identity('authors'), draft: 'authors' },
  { section: 'descriptor', name: 'vendor', type: 'string', neutral: identity('vendor'), draft: 'vendor' },
  { section: 'descriptor', name: 'family', type: 'string', neutral: identity('family'), draft: 'family' },
  { section: 'descriptor', name: 'name', type: 'string', neutral: identity('name'), draft: 'name' },
  { section: 'descriptor', name: 'version', type: 'string', neutral: identity('version'), draft: 'version' },
  { section: 'descriptor', name: 'title', type: 'string', neutral: identity('title'), draft: 'title' },
  { section: 'descriptor', name: 'description', type: 'string', neutral: identity('description'), draft: 'description' },
  { section: 'descriptor', name: 'docURL', type: 'string', neutral: identity('documentation'), draft: 'documentation', former: ['infoURL'] },
  { section: 'descriptor', name: 'sourceURL', type: 'string', neutral: identity('repository'), draft: 'source' },
  { section: 'descriptor', name: 'datasetsURL', type: 'strings', neutral: identity('datasets') },
  { section: 'descriptor', name: 'revision', type: 'string', neutral: identity('revision'), draft: 'revision' },
  { section: 'descriptor', name: 'licenses', type: 'strings', neutral: identity('licenses'), draft: 'licenses' },
  { section: 'config', name: 'architecture', type: 'string', neutral: weights('architecture'), draft: 'architecture' },
  { section: 'config', name: 'format', type: 'string', neutral: weights('format'), draft: 'format' },
  { section: 'config', name: 'paramSize', type: 'string', neutral: weights('paramSize'), draft: 'param.size', former: ['parameterSize'] },
  { section: 'config', name: 'precision', type: 'string', neutral: weights('precision'), draft: 'precision' },
  { section: 'config', name: 'quantization', type: 'string', neutral: weights('quantization'), draft: 'quantization', former: ['puantization'] },
  { section: 'capabilities', name: 'inputTypes', type: 'strings', neutral: capability('inputTypes'), former: ['input_types'] },
  { section: 'capabilities', name: 'outputTypes', type: 'strings', neutral: capability('outputTypes'), former: ['output_types'] },
  { section: 'capabilities', name: 'knowledgeCutoff', type: 'string', neutral: capability('knowledgeCutoff'), former: ['knowledge_cutoff'] },
  { section: 'capabilities', name: 'reasoning', type: 'boolean', neutral: capability('reasoning') },
  { section: 'capabilities', name: 'toolUsage', type: 'boolean', neutral: capability('toolUsage'), former: ['tool_usage'] },
  { section: 'capabilities', name: 'reward', type: 'boolean', neutral: capability('reward') },
  { section: 'capabilities', name: 'languages', type: 'strings', neutral: capability('languages') },
];

/** `modelfs.diffIds`, and how it was spelled up to v0.0.6. */
export const diffIdsNames = ['diffIds', 'diff_ids'] as const;

/** How the draft writes a field of several values into one annotation. */
export const draftListSeparator = ', ';

/** `<count><scale>` with at most one decimal digit. (cncf config.md, paramSize) */
export const paramSizeGrammar = /^[0-9]+(\.[0-9])?[QTBMK]$/i;

/** What `precision` may name, several joined by commas. (cncf config.md, precision) */
export const precisions: readonly string[] = [
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'float8_e4m3',
  'float8_e5m2',
  'complex32',
  'complex64',
  'complex128',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'bool',
];

/** What `inputTypes` and `outputTypes` may name. */
export const modalities: readonly string[] = ['text', 'image', 'audio', 'video', 'embedding', 'other'];
