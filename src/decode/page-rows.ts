// Collects the rows of a page, one per record (two observations are merged), and encodes them as the arrays that a
// statement takes. Encoded at once, because buffers wait for their batch in less
// memory than the strings that they hold: 265 MB at the peak of a sync instead of 320. (Reusing the memory of batches
// that are loaded made no difference: V8 then collects later.)

import { toBinaryArray, toColumnArray } from './binary-array.ts';
import { byTable, COLUMN_NAMES, LOAD_ORDER, type MirroredTable, typeAt } from './mirrored-tables.ts';
import { IS_ELSEWHERE, type MirrorRow, mergeRows, startOf } from './rows.ts';

/** Rows of one table that have the same columns; no record twice. Each array is a binary parameter. */
export interface EncodedRows {
  readonly table: MirroredTable;
  readonly ids: readonly string[];
  /** The places of the columns that they have. */
  readonly places: readonly number[];
  /** One array per place. */
  readonly columns: readonly Buffer[];
  /** Fields that the contract does not know; null if no row has any. */
  readonly extras: Buffer | null;
  readonly observedAt: Buffer;
}

/** Returns an empty collection. */
export function makePageRows() {
  const tables = byTable(() => new Map<string, MirrorRow>());
  return {
    add(row: MirrorRow): void {
      const rows = tables[row.table];
      const held = rows.get(row.id);
      rows.set(row.id, held === undefined ? row : mergeRows(held, row));
    },
    /** Returns the rows by table, in load order, and by the columns that they have. */
    encode(): readonly EncodedRows[] {
      return LOAD_ORDER.flatMap((table) => {
        const groups = Map.groupBy(tables[table].values(), carriedColumns);
        return [...groups].map(([carried, rows]) => encodeRows(table, carried, rows));
      });
    },
  };
}

/** Returns the columns that the row has, as bits: no table has as many columns as a number has bits. */
function carriedColumns(row: MirrorRow): number {
  const { values } = row;
  let carried = 0;
  for (let place = 0; place < values.length; place += 1) {
    if (values[place] !== undefined || startOf(row, place) !== IS_ELSEWHERE) carried |= 1 << place;
  }
  return carried;
}

function encodeRows(table: MirroredTable, carried: number, rows: readonly MirrorRow[]): EncodedRows {
  const places = [...COLUMN_NAMES[table].keys()].filter((place) => (carried & (1 << place)) !== 0);
  const hasExtra = rows.some(({ extra }) => extra !== null);
  return {
    table,
    ids: rows.map(({ id }) => id),
    places,
    columns: places.map((place) => toColumnArray(typeAt(table, place), rows, place)),
    extras: hasExtra
      ? toBinaryArray(
          'jsonb',
          rows.map(({ extra }) => extra),
        )
      : null,
    observedAt: toBinaryArray(
      'timestamptz',
      rows.map(({ observedAtMicros }) => observedAtMicros),
    ),
  };
}
