import { protoField as field } from './weight-files.js';

const float = 1;
const external = 1;

/** An ONNX graph of one float tensor whose bytes lie in another file. */
export function makeOnnx({ external: location, bytes }: { readonly external: string; readonly bytes: number }): Uint8Array {
  const entry = (key: string, value: string) => field(13, [field(1, key), field(2, value)]);
  const tensor = [
    field(1, bytes / 4),
    field(2, float),
    field(8, 'weight'),
    entry('location', location),
    entry('length', String(bytes)),
    field(14, external),
  ];
  const graph = [field(1, [field(4, 'Relu')]), field(5, tensor)];
  return Buffer.concat([field(1, 8), field(8, [field(1, ''), field(2, 17)]), field(7, graph)]);
}
