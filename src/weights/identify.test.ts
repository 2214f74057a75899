import { describe, expect, it } from 'vitest';
import { digitsFile, makeGguf, makeNpy, makeTensors } from '../../test/support/weight-files.js';
import { identifyWeights } from './identify.js';

const zip = (name: string) => {
  const header = Buffer.alloc(30 + name.length);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt16LE(name.length, 26);
  header.write(name, 30);
  return header;
};
const legacy = Buffer.from('80028a0a6cfc9c46f9206aa850192e', 'hex');
const pickle = Buffer.from('8004950000', 'hex');
const none = Buffer.alloc(0);

describe('identifyWeights', () => {
  it.each([
    ['weights', makeTensors({ w: ['F32', [1], 4] }), 'safetensors'],
    ['model.bin', makeGguf({}), 'gguf'],
    ['sample', makeNpy('{}', 0), 'npy'],
    ['digits.pt', digitsFile('digits.pt'), 'pt'],
    ['digits.bin', digitsFile('digits.pt'), 'pt'],
    ['weights', legacy, 'pt'],
    ['x.ckpt', pickle, 'pt'],
    ['x.bin', zip('archive/data.pkl'), 'pt'],
    ['download', zip('archive/data.pkl'), 'pt'],
    ['x.keras', zip('metadata.json'), 'keras'],
    ['x.npz', zip('arr_0.npy'), 'npz'],
    ['x.h5', Buffer.from('\x89HDF\r\n\x1a\n', 'latin1'), 'h5'],
    ['x', Buffer.from('....TFL3', 'latin1'), 'tflite'],
  ])('%s by its magic', (path, first, format) => expect(identifyWeights(path, first)).toBe(format));

  it.each([
    ['a/b.onnx', 'onnx'],
    ['A.ONNX', 'onnx'],
    ['a.safetensors', 'safetensors'],
    ['a.ckpt', 'ckpt'],
    ['a.tflite', 'tflite'],
    ['saved_model.pb', 'pb'],
    ['a.joblib', 'joblib'],
    ['a.pkl', 'pkl'],
    ['a.engine', 'engine'],
    ['a.mlmodel', 'mlmodel'],
  ])('%s by its name', (path, format) => expect(identifyWeights(path, none)).toBe(format));

  it('keeps a pickle a pickle', () => expect(identifyWeights('model.pkl', legacy)).toBe('pkl'));

  it.each([
    ['config.json', Buffer.from('{"a": 1}')],
    ['tokenizer.bin', Buffer.from('words')],
    ['code.zip', zip('src/version.py')],
    ['model.safetensors.index.json', Buffer.from('{}')],
    ['model.onnx_data', Buffer.alloc(64)],
    ['README', none],
    ['a.constructor', none],
  ])('%s is no weight file', (path, first) => expect(identifyWeights(path, first)).toBeUndefined());
});
