import { describe, expect, it } from 'vitest';
import { readGraphSettings } from './graph-settings.js';

describe('readGraphSettings', () => {
  it.each([
    { providers: undefined, device: undefined, chosen: ['cpu'] },
    { providers: undefined, device: 'CPU', chosen: ['cpu'] },
    { providers: ' , ', device: undefined, chosen: ['cpu'] },
    { providers: 17, device: undefined, chosen: ['cpu'] },
    { providers: 'xnnpack', device: 'cpu', chosen: ['xnnpack'] },
    { providers: undefined, device: '1', chosen: ['cuda'] },
    { providers: 'tensorrt, CUDA,cuda', device: 'GPU-0f', chosen: ['tensorrt', 'cuda'] },
    { providers: 'cuda,cpu', device: '0', chosen: ['cuda', 'cpu'] },
  ])('makes $chosen of $providers on $device', ({ providers, device, chosen }) => {
    expect(readGraphSettings({ providers }, device)).toEqual({ settings: { providers: chosen }, findings: [] });
  });

  it('leaves out what needs a GPU, where there is none, and says so', () => {
    expect(readGraphSettings({ providers: 'cuda,cpu' }, 'cpu')).toMatchObject({
      settings: { providers: ['cpu'] },
      findings: [{ level: 'warning', code: 'runtime/provider-left-out', message: 'The provider "cuda" is not used: the device is cpu' }],
    });
    expect(readGraphSettings({ providers: 'tensorrt,cuda' }, undefined)).toMatchObject({ settings: { providers: ['cpu'] }, findings: [{}, {}] });
  });

  it('takes threads as whole numbers of either kind', () => {
    const { settings } = readGraphSettings({ intra_op_num_threads: 2, inter_op_num_threads: 3n }, undefined);
    expect(settings).toEqual({ providers: ['cpu'], intraOpNumThreads: 2, interOpNumThreads: 3 });
    expect(readGraphSettings({ intra_op_num_threads: 1.5, inter_op_num_threads: '3' }, undefined).settings).toEqual({ providers: ['cpu'] });
  });
});
