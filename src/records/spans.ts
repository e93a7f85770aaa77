// Values of a row that are still in the bytes of their page: where each begins and ends. Most are copied from there to
// the arrays that a statement takes, without ever being a string.

import type { ColumnType } from './mirrored-tables.ts';
import { integerAt } from './plain-bytes.ts';

export interface Spans {
  /** Of the page. */
  readonly bytes: Buffer;
  /** Of each column of the table two numbers: where its value begins, quotes left out, and the place after it. */
  readonly bounds: readonly number[];
}

/** Of a row that has all of its values by itself. */
export const NO_SPANS: Spans = { bytes: Buffer.alloc(0), bounds: [] };

/** In place of where a value begins: it is null. */
export const IS_NULL = -1;
/** The value is not in the bytes: the row has it by itself, or not at all. */
export const IS_ELSEWHERE = -2;

/** Returns where the value of the column begins; IS_NULL or IS_ELSEWHERE where it does not. */
export function startOf({ bounds }: Spans, column: number): number {
  return bounds[column * 2] ?? IS_ELSEWHERE;
}

/** Returns the place after a value that begins somewhere. */
export function endOf({ bounds }: Spans, column: number): number {
  return bounds[column * 2 + 1] as number;
}

/** Returns whether the value of the column is there, or is known to be null. */
export function isInSpans(spans: Spans, column: number): boolean {
  return startOf(spans, column) !== IS_ELSEWHERE;
}

/** Returns the value as JSON.parse reads it; undefined where it is elsewhere. */
export function valueAt(spans: Spans, type: ColumnType | undefined, column: number): unknown {
  const start = startOf(spans, column);
  if (start < 0) return start === IS_NULL ? null : undefined;
  const end = endOf(spans, column);
  if (type === 'bigint') return integerAt(spans.bytes, start, end);
  const text = spans.bytes.toString('utf8', start, end);
  return type === 'boolean' ? text === 'true' : text;
}
