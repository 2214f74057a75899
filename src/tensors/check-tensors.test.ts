import { describe, expect, it } from 'vitest';
import { numeric } from '../../test/support/tensors.js';
import type { NumericTensor, Shape, Tensor, TensorSpec } from '../core/index.js';
import { checkTensors, type ShapeBindings } from './check-tensors.js';
import { orderInputs } from './order-inputs.js';

const zeros = (...shape: number[]): NumericTensor =>
  numeric(
    'float32',
    shape,
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 0),
  );
const x = (shape: Shape): TensorSpec => ({ name: 'x', dtype: 'float32', shape });
const check = (tensors: Record<string, Tensor>, specs: readonly TensorSpec[], bindings: ShapeBindings = new Map()) =>
  checkTensors(new Map(Object.entries(tensors)), specs, 'input', bindings).map(({ message }) => message);
const nested = (...inner: NumericTensor[]): Tensor => ({ kind: 'nested', inner });

describe('checkTensors', () => {
  it.each([
    [[2, 3], zeros(2, 3)],
    [['batch', 3], zeros(7, 3)],
    [['n', 'n'], zeros(4, 4)],
    [['*', null, '*'], zeros(1, 2, 3)],
    ['*', zeros(1, 2, 3)],
    ['whole', zeros(1, 2, 3)],
    [[], zeros()],
    ['*', nested(zeros(1), zeros(2, 2))],
    [['*', null], nested(zeros(1), zeros(2))],
    [['batch', '*'], nested(zeros(1), zeros(2))],
  ] satisfies [Shape, Tensor][])('takes for %j what fits', (shape, tensor) => {
    expect(check({ x: tensor }, [x(shape)])).toEqual([]);
  });

  it.each([
    [[2, 3], zeros(2, 4), 'expected float32 [2, 3], found float32 [2, 4]; dimension 1 is 4 and not 3'],
    [['batch', 3], zeros(3), 'expected float32 [batch, 3], found float32 [3]; the number of dimensions is 1 and not 2'],
    [['n', 'n'], zeros(2, 3), 'expected float32 [n, n], found float32 [2, 3]; dimension 1 is 3 and "n" is 2 already'],
    [[], zeros(1), 'expected float32 [], found float32 [1]; the number of dimensions is 1 and not 0'],
    ['*', numeric('int64', [1], [0]), 'expected float32 of any shape, found int64 [1]; the type is not float32'],
    ['*', { kind: 'string', shape: [], values: ['a'] }, 'expected float32 of any shape, found string []; the type is not float32'],
    [
      '*',
      nested(zeros(1), numeric('int8', [1], [0])),
      'expected float32 of any shape, found nested of 2 (float32 [1], int8 [1]); the type is not float32',
    ],
    [['*', 2], nested(zeros(2), zeros(2)), /fits only where every extent is free/],
    ['whole', nested(zeros(2), zeros(1)), /fits only where every extent is free/],
    [['*'], nested(zeros(2), zeros(1)), /in tensor 0 the number of dimensions is 1 and not 0$/],
    [['*', 'n'], nested(zeros(2), zeros(1)), /in tensor 1 dimension 0 is 1 and "n" is 2 already$/],
    [[], nested(), /no scalar/],
  ] satisfies [Shape, Tensor, string | RegExp][])('refuses for %j what does not fit', (shape, tensor, said) => {
    const [message, ...others] = check({ x: tensor }, [x(shape)]);
    expect(others).toEqual([]);
    expect(message).toMatch(typeof said === 'string' ? `Cannot use input "x": ${said}` : said);
  });

  it('binds symbols across all inputs and outputs', () => {
    const bindings: ShapeBindings = new Map();
    const specs = [x(['batch', 3]), { ...x('whole'), name: 'y' }];
    expect(check({ x: zeros(2, 3), y: zeros(5) }, specs, bindings)).toEqual([]);
    expect(Object.fromEntries(bindings)).toEqual({ batch: 2, whole: [5] });
    const outputs = checkTensors(
      new Map([
        ['out', zeros(1)],
        ['same', zeros(6)],
      ]),
      [
        { ...x(['batch']), name: 'out' },
        { ...x('whole'), name: 'same' },
      ],
      'output',
      bindings,
    );
    expect(outputs.map(({ message, code }) => [code, message])).toEqual([
      ['runtime/bad-output', 'Cannot accept output "out": expected float32 [batch], found float32 [1]; dimension 0 is 1 and "batch" is 2 already'],
      [
        'runtime/bad-output',
        'Cannot accept output "same": expected float32 of the shape "whole", found float32 [6]; the shape is [6] and "whole" is [5] already',
      ],
    ]);
  });

  it('names what is unknown or missing', () => {
    const tensors = new Map<string, Tensor>([['z', zeros()]]);
    expect(checkTensors(tensors, [x([])], 'input', new Map())).toEqual([
      {
        level: 'error',
        code: 'runtime/bad-input',
        message: 'Cannot use input "z": the model declares no input of this name',
        where: 'z',
        hint: 'Declared: "x"',
      },
      { level: 'error', code: 'runtime/bad-input', message: 'Cannot use input "x": expected float32 [], found none', where: 'x' },
    ]);
    expect(checkTensors(tensors, [x([])], 'output', new Map()).map(({ level }) => level)).toEqual(['warning', 'error']);
  });

  it('asks for nothing where nothing is declared', () => {
    expect(check({ z: zeros(2) }, [])).toEqual([]);
    expect(check({ x: zeros(2) }, [{ name: 'x' }])).toEqual([]);
  });

  it('shows names of a package without their control characters', () => {
    expect(check({ 'a\u001b[2J': zeros() }, [x([])])[0]).toContain('"a\\u001b[2J"');
  });
});

describe('orderInputs', () => {
  it('takes values in the declared order', () => {
    const values = [zeros(1), zeros(2)];
    expect([...orderInputs(values, [{ name: 'b' }, { name: 'a' }])]).toEqual([
      ['b', values[0]],
      ['a', values[1]],
    ]);
  });

  it('insists on their number', () => {
    const bad = expect.objectContaining({ code: 'runtime/bad-input' });
    expect(() => orderInputs([zeros()], [{ name: 'b' }, { name: 'a' }])).toThrow(/1 input without names: the model declares 2: "b", "a"/);
    expect(() => orderInputs([zeros()], [])).toThrow(/declares none/);
    expect(() => orderInputs([], [{ name: 'a' }])).toThrow(bad);
  });
});
