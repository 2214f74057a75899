import { type Capabilities, findDtype, isJsonObject, type JsonObject } from '../core/index.js';
import { present } from './present.js';

/** What the config.json (and generation_config.json) of the transformers library say of a model. */
export interface TransformersConfig {
  readonly family?: string;
  readonly architecture?: string;
  /** A ModelPack precision word; what the model is meant to be loaded as. */
  readonly dtype?: string;
  readonly capabilities: Partial<Capabilities>;
}

/** Families that the transformers library serves and that are no transformers; without a word of their own nothing is said. */
const otherArchitectures: Readonly<Record<string, string | undefined>> = {
  bit: 'cnn',
  convnext: 'cnn',
  convnextv2: 'cnn',
  efficientnet: 'cnn',
  mobilenet_v1: 'cnn',
  mobilenet_v2: 'cnn',
  regnet: 'cnn',
  resnet: 'cnn',
  timm_wrapper: undefined,
  falcon_mamba: undefined,
  mamba: undefined,
  mamba2: undefined,
  rwkv: undefined,
};

const transformerClass =
  /(For(CausalLM|ConditionalGeneration|SequenceClassification|TokenClassification|QuestionAnswering|MaskedLM|ImageClassification|PreTraining|CTC)|Model|LMHeadModel)$/;

export function parseTransformersConfig(configJson: unknown, generationConfig: unknown): TransformersConfig {
  const config = isJsonObject(configJson) ? configJson : {};
  const family = typeof config.model_type === 'string' && config.model_type !== '' ? config.model_type : undefined;
  const classes = Array.isArray(config.architectures) ? config.architectures.filter((name) => typeof name === 'string') : [];
  const isTransformers =
    'transformers_version' in config ||
    classes.some((name) => transformerClass.test(name)) ||
    (isJsonObject(generationConfig) && 'transformers_version' in generationConfig);
  return present<TransformersConfig>({
    family,
    architecture: architectureOf(family, isTransformers),
    dtype: findConfigDtype(config),
    capabilities: findCapabilities(config, classes),
  });
}

/** `family` is a model_type or GGUF's general.architecture. */
export function architectureOf(family: string | undefined, isTransformers: boolean): string | undefined {
  if (family !== undefined && (Object.hasOwn(otherArchitectures, family) || /^rwkv|mamba/.test(family))) return otherArchitectures[family];
  return isTransformers ? 'transformer' : undefined;
}

/** `dtype` (newer) or `torch_dtype`, also of the text part of a multimodal model; with or without `torch.` before it. */
function findConfigDtype(config: JsonObject): string | undefined {
  const parts = [config, config.text_config].filter(isJsonObject);
  const word = parts.flatMap((part) => [part.dtype, part.torch_dtype]).find((value) => typeof value === 'string');
  return typeof word === 'string' ? findDtype('name', word.replace(/^torch\./, ''))?.modelpack : undefined;
}

/** Only what the class and the parts of the configuration say plainly. */
function findCapabilities(config: JsonObject, classes: readonly string[]): Partial<Capabilities> {
  const generates = classes.some((name) => /For(CausalLM|ConditionalGeneration)$/.test(name));
  const isText = classes.some((name) => name.endsWith('ForCausalLM')) || isJsonObject(config.text_config);
  if (!generates || !isText) return {};
  const inputs = ['text', ...(isJsonObject(config.vision_config) ? ['image'] : []), ...(isJsonObject(config.audio_config) ? ['audio'] : [])];
  return { inputTypes: inputs, outputTypes: ['text'] };
}
