/** Vectors as a model gave them, checked: count, order, length, and that every number is one. */
import { MemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { Shown } from './failure.js';
import { badReply } from './failure.js';

/** As OpenAI's dialect lists them. Order is not promised, `index` is. */
export type Numbered = { index?: unknown; embedding?: unknown } | null | undefined;

export function readVectors(from: Shown, model: string, data: unknown, count: number, dimensions: number): Float32Array[] {
  if (!Array.isArray(data) || data.length !== count) throw badReply(from, `it gave ${Array.isArray(data) ? data.length : 'no'} vectors for ${count} texts`);
  const vectors = new Array<Float32Array | undefined>(count);
  data.forEach((item: Numbered, at) => {
    const index = typeof item?.index === 'number' ? item.index : at;
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index]) throw badReply(from, `its vectors are numbered wrongly: index ${show(item?.index)} of ${count}`);
    const values = item?.embedding;
    if (!Array.isArray(values)) throw badReply(from, `vector ${index} is not a list of numbers`);
    if (values.length !== dimensions) {
      throw new MemoryOSError('DIMENSION_MISMATCH', `${from.shown} gave a vector of ${values.length} dimensions for "${model}", \`dimensions\` says ${dimensions}`, {
        data: { expected: dimensions, got: values.length },
      });
    }
    // Servers write NaN as null, which would quietly become zero.
    const finite = (values as unknown[]).every((value) => typeof value === 'number' && Number.isFinite(Math.fround(value)));
    if (!finite) throw badReply(from, `vector ${index} holds something that is not a finite number`);
    vectors[index] = Float32Array.from(values as number[]);
  });
  return vectors as Float32Array[];
}
