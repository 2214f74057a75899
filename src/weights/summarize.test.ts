import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { digitsFile, forwardOnly, makeGguf, makeTensors } from '../../test/support/weight-files.js';
import { readWeightFile } from './read-weight-file.js';
import { summarizeWeights } from './summarize.js';
import type { WeightFile } from './weight-file.js';

async function read(name: string, bytes: Uint8Array): Promise<WeightFile> {
  const file = await readWeightFile(name, forwardOnly(bytes), defaultLimits);
  if (file === undefined) throw new Error(`${name} is no weight file`);
  return file;
}

const tensors = (name: string, list: Parameters<typeof makeTensors>[0]) => read(name, makeTensors(list));
const digits = (...names: string[]) => Promise.all(names.map((name) => read(name, digitsFile(name))));

describe('summarizeWeights', () => {
  it('counts one format of the digits model', async () => {
    const report = summarizeWeights(await digits('digits.onnx', 'digits.pt', 'digits.safetensors'), {});
    expect(report.summary).toEqual({ format: 'safetensors', parameters: 2410, paramSize: '2.4K', precision: 'float32', tensors: 4 });
    expect(report.io?.inputs.map(({ name }) => name)).toEqual(['pixels']);
    expect(report.findings).toEqual([]);
  });

  it('prefers a format that lists its tensors', async () => {
    expect(summarizeWeights(await digits('digits.pt', 'digits.onnx'), {}).summary).toMatchObject({ format: 'onnx', parameters: 2410 });
    expect(summarizeWeights(await digits('digits.pt'), { configJson: { torch_dtype: 'float16' } }).summary).toEqual({
      format: 'pt',
      precision: 'float16',
    });
    expect(summarizeWeights([], {})).toEqual({ summary: {}, identity: {}, capabilities: {}, findings: [] });
  });

  it('orders dtypes by bytes and reads the transformers config', async () => {
    const files = [await tensors('model.safetensors', { a: ['F32', [4], 16], b: ['BF16', [100], 200], c: ['F8_E8M0', [9], 9] })];
    const configJson = { model_type: 'qwen3', architectures: ['Qwen3ForCausalLM'], torch_dtype: 'bfloat16', transformers_version: '4.51.0' };
    const report = summarizeWeights(files, { configJson });
    expect(report.summary).toEqual({
      format: 'safetensors',
      architecture: 'transformer',
      parameters: 104,
      paramSize: '0.1K',
      precision: 'bfloat16,float32',
      tensors: 3,
    });
    expect(report.identity).toEqual({ family: 'qwen3' });
    expect(report.capabilities).toEqual({ inputTypes: ['text'], outputTypes: ['text'] });
    expect(report.findings).toEqual([]);
  });

  it.each([
    [{ model_type: 'resnet', transformers_version: '4' }, 'cnn'],
    [{ model_type: 'mamba', transformers_version: '4' }, undefined],
    [{ architectures: ['BertModel'] }, 'transformer'],
    [{ hidden: 1 }, undefined],
    [{ model_type: 'constructor' }, undefined],
  ])('architecture of %j', (configJson, architecture) => expect(summarizeWeights([], { configJson }).summary.architecture).toBe(architecture));

  it('adds images and sound to what goes in', () => {
    const configJson = { architectures: ['XForConditionalGeneration'], text_config: { dtype: 'float16' }, vision_config: {}, audio_config: {} };
    expect(summarizeWeights([], { configJson }).capabilities).toEqual({ inputTypes: ['text', 'image', 'audio'], outputTypes: ['text'] });
  });

  it('finds a config that contradicts the header', async () => {
    const report = summarizeWeights(await digits('digits.safetensors'), { configJson: { torch_dtype: 'torch.bfloat16' } });
    expect(report.summary.precision).toBe('float32');
    expect(report.findings).toEqual([
      expect.objectContaining({
        code: 'weights/dtype-contradiction',
        level: 'warning',
        message: 'config.json says the dtype is bfloat16 and the weight files hold float32',
      }),
    ]);
  });

  it.each([
    ['gptq', { quantization_config: { quant_method: 'gptq', bits: 4 } }, undefined],
    ['gptq', {}, { bits: 4, group_size: 128, desc_act: false }],
    ['awq', {}, { w_bit: 4, q_group_size: 128 }],
    [
      'compressed-tensors',
      { quantization_config: { quant_method: 'compressed-tensors', config_groups: { group_0: { weights: { num_bits: 4 } } } } },
      undefined,
    ],
  ])('unpacks %s', async (quantization, configJson, quantizeConfig) => {
    const files = [
      await tensors('m.safetensors', {
        'l.qweight': ['I32', [8, 10], 320],
        'l.qzeros': ['I32', [1, 10], 40],
        'l.scales': ['F16', [10], 20],
        'l.g_idx': ['I32', [64], 256],
        norm: ['F16', [10], 20],
      }),
    ];
    expect(summarizeWeights(files, { configJson, quantizeConfig }).summary).toMatchObject({
      parameters: 640 + 10,
      quantization,
      precision: 'float16',
    });
  });

  it('unpacks bitsandbytes and mxfp4, and leaves the scales of fp8 out', async () => {
    const bnb = await tensors('m.safetensors', {
      w: ['U8', [50, 1], 50],
      'w.absmax': ['U8', [2], 2],
      'w.quant_map': ['F32', [16], 64],
      'w.quant_state.bitsandbytes__nf4': ['U8', [70], 70],
    });
    expect(summarizeWeights([bnb], { configJson: { quantization_config: { load_in_4bit: true } } }).summary).toMatchObject({
      parameters: 100,
      quantization: 'bitsandbytes',
    });
    const mxfp4 = await tensors('m.safetensors', { e_blocks: ['U8', [2, 16], 32], e_scales: ['U8', [2], 2], norm: ['BF16', [4], 8] });
    expect(summarizeWeights([mxfp4], { configJson: { quantization_config: { quant_method: 'mxfp4' } } }).summary).toMatchObject({
      parameters: 68,
      quantization: 'mxfp4',
      precision: 'bfloat16',
    });
    const fp8 = await tensors('m.safetensors', { w: ['F8_E4M3', [4, 4], 16], w_scale: ['F32', [1], 4], 'l.weight_scale_inv': ['F32', [1], 4] });
    expect(summarizeWeights([fp8], { configJson: { quantization_config: { quant_method: 'fp8' } } }).summary).toMatchObject({
      parameters: 17,
      quantization: 'fp8',
      precision: 'float8_e4m3,float32',
    });
  });

  it('tells dtypes without a ModelPack word as quantisation', async () => {
    expect(summarizeWeights([await tensors('m.safetensors', { w: ['F4', [4], 2], b: ['F16', [1], 2] })], {}).summary).toMatchObject({
      precision: 'float16',
      quantization: 'float4_e2m1',
      parameters: 5,
    });
  });

  it('adds shards, and finds a missing one', async () => {
    const shards = [
      await tensors('m-00001-of-00003.safetensors', { a: ['F32', [2], 8] }),
      await tensors('m-00002-of-00003.safetensors', { b: ['F32', [2], 8] }),
    ];
    const report = summarizeWeights(shards, {});
    expect(report.summary.parameters).toBe(4);
    expect(report.findings).toEqual([
      expect.objectContaining({
        level: 'error',
        code: 'weights/missing-file',
        message: '"m.safetensors" is split in 3 files and 2 are in the package',
      }),
    ]);
  });

  it('counts copies of a model once, and different models each', async () => {
    const list = { a: ['F32', [2], 8], b: ['F32', [3], 12] } as const;
    const half = { a: ['F16', [2], 4], b: ['F16', [3], 6] } as const;
    const report = summarizeWeights(
      [
        await tensors('m/model.fp16.safetensors', half),
        await tensors('m/model.safetensors', list),
        await tensors('m/consolidated.safetensors', { x: ['F16', [5], 10] }),
        await tensors('vae/model.safetensors', list),
        await tensors('m/layer_1.safetensors', { z: ['F32', [5], 20] }),
      ],
      {},
    );
    expect(report.summary).toMatchObject({ parameters: 15, precision: 'float32' });
    expect(report.findings.map(({ code, where }) => [code, where])).toEqual([
      ['weights/copy', 'm/model.fp16.safetensors'],
      ['weights/copy', 'm/consolidated.safetensors'],
    ]);
  });

  it('reads identity, languages and quantisation of a GGUF', async () => {
    const bytes = makeGguf({
      keys: [
        ['general.architecture', 8, 'llama'],
        ['general.name', 8, 'Tiny'],
        ['general.license', 8, 'apache-2.0'],
        ['general.organization', 8, 'Example'],
        ['general.languages', 9, [8, ['en', 'english', 'de']]],
        ['general.file_type', 4, 15 + 1024],
        ['tokenizer.ggml.model', 8, 'gpt2'],
      ],
      tensors: [
        { name: 'w', extents: [256, 2], type: 12, offset: 0 },
        { name: 'n', extents: [8], type: 0, offset: 288 },
      ],
      dataBytes: 288 + 32,
    });
    const report = summarizeWeights([await read('tiny.gguf', bytes)], {});
    expect(report.summary).toEqual({
      format: 'gguf',
      architecture: 'transformer',
      parameters: 520,
      paramSize: '0.5K',
      precision: 'float32',
      quantization: 'Q4_K_M',
      tensors: 2,
    });
    expect(report.identity).toEqual({ name: 'Tiny', licenses: ['apache-2.0'], vendor: 'Example', family: 'llama' });
    expect(report.capabilities).toEqual({ languages: ['en', 'de'], inputTypes: ['text'], outputTypes: ['text'] });
    expect(report.findings).toEqual([]);
  });

  it('takes the largest tensor type of a GGUF that says none, and checks split files', async () => {
    const part = (number: number) =>
      makeGguf({
        keys: [
          ['split.count', 4, 2],
          ['split.no', 4, number],
          ['split.tensors.count', 4, 3],
        ],
        tensors: [{ name: `w${number}`, extents: [32], type: 2, offset: 0 }],
        dataBytes: 18,
      });
    const files = [await read('m-00001-of-00002.gguf', part(0)), await read('m-00002-of-00002.gguf', part(1))];
    const report = summarizeWeights(files, {});
    expect(report.summary).toEqual({
      format: 'gguf',
      architecture: 'transformer',
      parameters: 64,
      paramSize: '0.1K',
      quantization: 'Q4_0',
      tensors: 2,
    });
    expect(report.findings.map(({ message }) => message)).toEqual(['"m.gguf" promises 3 tensors and its files hold 2']);
    expect(summarizeWeights(files.slice(0, 1), {}).findings.map(({ code }) => code)).toEqual(['weights/missing-file']);
  });
});
