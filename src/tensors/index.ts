/**
 * tensors: values of models in memory: .npy, JSON and bare bytes to tensors and back, their elements, comparing them, and whether they keep to
 * what a model declares. Opens no file, loads no pickle, knows no format of packages and no runtime.
 */
export { checkTensors } from './check-tensors.js';
export { compareTensors } from './compare-tensors.js';
export { describeTensor } from './describe-tensor.js';
export { toStoredArray } from './typed-array.js';
export { countElements } from './element-count.js';
export { type InferenceOutput, toInferenceOutput } from './inference-output.js';
export { type NpyHeader, npyVersion, parseNpyHeader } from './npy-header.js';
export { type NpyType, parseNpyType } from './npy-type.js';
export { orderInputs } from './order-inputs.js';
export { parseNpy } from './parse-npy.js';
export { parseTensorText } from './parse-tensor-json.js';
export { tensorFromBytes } from './tensor-from-bytes.js';
export { writeTensorText } from './tensor-json.js';
export { isNpyWritable, writeNpy } from './write-npy.js';
