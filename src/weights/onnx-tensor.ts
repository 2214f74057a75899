import { type DtypeName, findDtype } from '../core/index.js';
import { overLimit, quote } from './bad-header.js';
import { countElements } from '../tensors/index.js';
import { type OnnxModel, report } from './onnx-model.js';
import { assertBlock, type Field, type Handlers, readInside, readNumbers, readText, toNumber } from './onnx-wire.js';

const maxRank = 64;
/** `location`, `offset`, `length`, `checksum` and room for more. */
const maxExternalEntries = 16;

interface Draft {
  name: string;
  readonly dims: number[];
  dataType: number;
  /** Bytes and place of `raw_data`. */
  raw?: { readonly bytes: number; readonly offset: number };
  /** Bytes of the typed data fields, whose numbers are widened. */
  typed: number;
  readonly externalData: Map<string, string>;
}

/** A TensorProto: what it says of itself; its data is stepped over. With `listed` it is one of the model's tensors. Returns its name. */
export async function readTensor(model: OnnxModel, field: Field, listed: boolean): Promise<string> {
  const draft: Draft = { name: '', dims: [], dataType: 0, typed: 0, externalData: new Map() };
  await readInside(model.reader, field, tensorFields(model, draft));
  if (draft.externalData.size > 0) addExternal(model, draft);
  if (listed) addTensor(model, draft);
  return draft.name;
}

function tensorFields(model: OnnxModel, draft: Draft): Handlers {
  const { reader } = model;
  const typed = (field: Field) => {
    draft.typed += field.end - reader.position;
  };
  return {
    1: (field) => readNumbers(reader, field, draft.dims, maxRank),
    2: (field) => {
      draft.dataType = toNumber(reader, field);
    },
    4: typed,
    5: typed,
    6: typed,
    7: typed,
    8: async (field) => {
      draft.name = await readText(reader, field);
    },
    9: (field) => {
      draft.raw = { bytes: assertBlock(reader, field).value, offset: reader.position };
    },
    10: typed,
    11: typed,
    13: async (field) => {
      const [key, value] = await readEntry(model, field);
      if (draft.externalData.size < maxExternalEntries) draft.externalData.set(key, value);
    },
  };
}

/** A StringStringEntryProto. */
export async function readEntry({ reader }: OnnxModel, field: Field): Promise<readonly [key: string, value: string]> {
  let key = '';
  let value = '';
  await readInside(reader, field, {
    1: async (inner) => {
      key = await readText(reader, inner);
    },
    2: async (inner) => {
      value = await readText(reader, inner);
    },
  });
  return [key, value];
}

function addTensor(model: OnnxModel, { name, dims, dataType, raw, typed, externalData }: Draft): void {
  const { reader, tensors, limits } = model;
  if (tensors.length >= limits.tensors)
    throw overLimit(reader.file, reader.position, `it holds more than ${limits.tensors} tensors, the most that is read`);
  const dtype = findDtype('onnx', dataType);
  const elements = countElements(dims);
  if (elements === undefined) throw reader.bad(`tensor ${quote(name)} has the shape [${dims.slice(0, 8).join(', ')}], which is no shape`);
  const expected = dtype === undefined || dtype.bits === 0 ? undefined : Math.ceil((elements * dtype.bits) / 8);
  if (expected !== undefined && raw !== undefined && raw.bytes !== expected && externalData.size === 0) {
    const message = `Tensor ${quote(name)} of [${dims.join(', ')}] ${dtype?.name} needs ${expected} bytes and holds ${raw.bytes}`;
    report(model, 'weights/wrong-size', message, `${reader.file}: byte ${raw.offset}`);
  }
  tensors.push({
    name,
    dtype: dtype?.name ?? `onnx:${dataType}`,
    shape: dims,
    bytes: expected ?? raw?.bytes ?? typed,
    ...(raw === undefined || externalData.size > 0 ? {} : { offset: raw.offset }),
    file: reader.file,
  });
}

function addExternal(model: OnnxModel, { name, dims, dataType, externalData }: Draft): void {
  const location = externalData.get('location') ?? '';
  const offset = wholeNumber(externalData.get('offset'));
  const length = wholeNumber(externalData.get('length'));
  model.external.push({ tensor: name, location, ...(offset === undefined ? {} : { offset }), ...(length === undefined ? {} : { length }) });
  const where = model.reader.file;
  if (!isBeside(location)) {
    report(
      model,
      'weights/unsafe-external-data',
      `Tensor ${quote(name)} keeps its data in ${quote(location)}, which is no file beside the model`,
      where,
    );
  }
  const bits = findDtype('onnx', dataType)?.bits ?? 0;
  const expected = Math.ceil(((countElements(dims) ?? 0) * bits) / 8);
  if (length !== undefined && bits > 0 && length !== expected) {
    report(model, 'weights/wrong-size', `Tensor ${quote(name)} needs ${expected} bytes and its external data has ${length}`, where);
  }
}

/** A relative path that stays in the folder of the model. */
function isBeside(location: string): boolean {
  return location !== '' && !/[\\:\0]|^\//.test(location) && !location.split('/').includes('..');
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export function findOnnxDtype(dataType: number): DtypeName | undefined {
  return findDtype('onnx', dataType)?.name;
}
