// The row of a record's own fields. Its values are plain ones, or still in the bytes of the page: most are copied from
// there to the arrays that a statement takes, without ever being a string.

import { integerAt } from './fast/plain-values.ts';
import { COLUMN_NAMES, type MirroredTable, typeAt } from './mirrored-tables.ts';

export interface MirrorRow {
  readonly table: MirroredTable;
  readonly id: string;
  /**
   * In the order of the table's columns. A value that the record did not have is undefined, and the load does not
   * change it: a nested record is a partial view. A value that is in the bytes is undefined too.
   */
  readonly values: unknown[];
  /** The page. */
  readonly bytes: Buffer;
  /**
   * Two numbers for each column: the start of its value in the bytes, without quotes (or IS_NULL, or IS_ELSEWHERE), and
   * the place after it. Empty if the bytes are not used.
   */
  readonly bounds: number[];
  /** Fields that the contract does not know; null if there are none. */
  readonly extra: Readonly<Record<string, unknown>> | null;
  /** Microseconds since 1970. */
  readonly observedAtMicros: number;
}

/** In place of a start: the value is null. */
export const IS_NULL = -1;
/** The value is not in the bytes: it is among the values, or the record did not have it. */
export const IS_ELSEWHERE = -2;

export const NO_BYTES = Buffer.alloc(0);

/** Returns the start of the column's value in the bytes, IS_NULL or IS_ELSEWHERE. */
export function startOf({ bounds }: MirrorRow, place: number): number {
  return bounds.length === 0 ? IS_ELSEWHERE : (bounds[place * 2] as number);
}

/** Returns the place after a value that is in the bytes. */
export function endOf({ bounds }: MirrorRow, place: number): number {
  return bounds[place * 2 + 1] as number;
}

/** Returns the value of the column as JSON.parse reads it; undefined if the record did not have it. */
export function getValue(row: MirrorRow, place: number): unknown {
  const { table, values, bytes } = row;
  const start = startOf(row, place);
  if (start === IS_ELSEWHERE) return values[place];
  if (start === IS_NULL) return null;
  const end = endOf(row, place);
  return typeAt(table, place) === 'bigint'
    ? integerAt(bytes, start, end)
    : bytes.toString('utf8', start, end);
}

/** Puts the value in place of the column's. */
export function setValue({ values, bounds }: MirrorRow, place: number, value: unknown): void {
  values[place] = value;
  if (bounds.length > 0) bounds[place * 2] = IS_ELSEWHERE;
}

/** Returns one row of two observations, as if first the older, then the newer one was loaded. */
export function mergeRows(one: MirrorRow, other: MirrorRow): MirrorRow {
  const [older, newer] = other.observedAtMicros >= one.observedAtMicros ? [one, other] : [other, one];
  return {
    ...newer,
    values: COLUMN_NAMES[newer.table].map((_, place) => {
      const value = getValue(newer, place);
      return value === undefined ? getValue(older, place) : value;
    }),
    bytes: NO_BYTES,
    bounds: [],
    extra: older.extra === null ? newer.extra : { ...older.extra, ...newer.extra },
  };
}
