import { isPickle, isPyTorch, isZip } from './pytorch.js';
import type { WeightFormat } from './weight-file.js';

const byExtension: ReadonlyMap<string, WeightFormat> = new Map([
  ['safetensors', 'safetensors'],
  ['gguf', 'gguf'],
  ['onnx', 'onnx'],
  ['npy', 'npy'],
  ['npz', 'npz'],
  ['pt', 'pt'],
  ['pth', 'pt'],
  ['pt2', 'pt'],
  ['ptl', 'pt'],
  ['h5', 'h5'],
  ['hdf5', 'h5'],
  ['keras', 'keras'],
  ['tflite', 'tflite'],
  ['pb', 'pb'],
  ['ckpt', 'ckpt'],
  ['joblib', 'joblib'],
  ['pkl', 'pkl'],
  ['pickle', 'pkl'],
  ['engine', 'engine'],
  ['plan', 'engine'],
  ['mlmodel', 'mlmodel'],
]);

/** Formats that are a pickle or a zip of one: their own magic says less than their name. */
const pickled: readonly WeightFormat[] = ['joblib', 'pkl'];

const magics: readonly (readonly [WeightFormat, (first: Uint8Array) => boolean])[] = [
  ['gguf', startsWith('GGUF')],
  ['npy', startsWith('\x93NUMPY')],
  ['h5', startsWith('\x89HDF\r\n\x1a\n')],
  ['tflite', startsWith('TFL3', 4)],
  ['safetensors', isSafetensors],
  ['pt', isPyTorch],
];

/**
 * The weight format of a file: by its first bytes (300 are plenty), then by its extension.
 * Undefined for what is no weight file, so that tokenizers and configs pass through.
 */
export function identifyWeights(path: string, first: Uint8Array): WeightFormat | undefined {
  const extension = /\.([a-z0-9]+)$/.exec(path.toLowerCase())?.[1] ?? '';
  const named = byExtension.get(extension);
  if (named !== undefined && pickled.includes(named)) return named;
  const found = magics.find(([, matches]) => matches(first))?.[0];
  if (found !== undefined) return found === 'h5' && named === 'keras' ? named : found;
  if ((extension === 'bin' || extension === 'ckpt') && (isPickle(first) || isZip(first))) return 'pt';
  return named;
}

function startsWith(magic: string, at = 0): (first: Uint8Array) => boolean {
  const codes = Array.from(magic, (character) => character.charCodeAt(0));
  return (first) => codes.every((code, index) => first[at + index] === code);
}

/** A header length under 4 GiB, then the brace of its JSON and a quote or a closing brace. */
function isSafetensors(first: Uint8Array): boolean {
  return first[4] === 0 && first[5] === 0 && first[6] === 0 && first[7] === 0 && first[8] === 0x7b && (first[9] === 0x22 || first[9] === 0x7d);
}
