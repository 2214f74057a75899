/** onnx: ONNX graphs, by the engine onnxruntime-node where it is installed. In this process, or in one of its own that can be stopped. */
export { onnxRuntime } from './onnx-runtime.js';
