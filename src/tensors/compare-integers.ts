import type { Differences } from './compare-numbers.js';
import type { IntegerArray64 } from './typed-array.js';

/** 64-bit integers, exactly. Equal ones are passed over as words, since a bigint costs an allocation. Both arrays are of one length. */
export function compareIntegers(actual: IntegerArray64, expected: IntegerArray64): Differences {
  const [left, right] = [toWords(actual), toWords(expected)];
  let count = 0;
  let worst = -1;
  let largest = 0n;
  for (let word = 0; word < left.length; word += 2) {
    if (left[word] === right[word] && left[word + 1] === right[word + 1]) continue;
    const at = word / 2;
    const difference = (actual[at] ?? 0n) - (expected[at] ?? 0n);
    const size = difference < 0n ? -difference : difference;
    count++;
    if (size <= largest) continue;
    largest = size;
    worst = at;
  }
  return { count, worst, error: Number(largest), allowed: 0, maxAbsError: Number(largest) };
}

function toWords(array: IntegerArray64): Uint32Array {
  return new Uint32Array(array.buffer, array.byteOffset, array.length * 2);
}
