// The rows of a batch, one per record: what was observed twice in the batch is one row that says both.
// Knows nothing of statements.

import { COLUMN_NAMES, LOAD_ORDER, type MirroredTable } from './mirrored-tables.ts';
import type { MirrorRow } from './rows-of-record.ts';

/** Rows of one table that carry the same columns. */
export interface RowGroup {
  readonly table: MirroredTable;
  /** The places of the columns that they carry. */
  readonly places: readonly number[];
  readonly rows: readonly MirrorRow[];
}

export interface BatchRows {
  add(row: MirrorRow): void;
  /** Gives back the groups of each table that has rows, tables in load order. */
  groups(): readonly (readonly RowGroup[])[];
}

/** Gives back an empty collection. */
export function makeBatchRows(): BatchRows {
  const tables = new Map<MirroredTable, Map<string, MirrorRow>>();
  return {
    add(row) {
      let rows = tables.get(row.table);
      if (rows === undefined) {
        rows = new Map();
        tables.set(row.table, rows);
      }
      const held = rows.get(row.id);
      rows.set(row.id, held === undefined ? row : merge(held, row));
    },
    groups() {
      return LOAD_ORDER.flatMap((table) => {
        const rows = tables.get(table);
        return rows === undefined ? [] : [groupByColumns(table, rows)];
      });
    },
  };
}

// The same as loading first the older, then the newer one: what only the older carries stays.
function merge(held: MirrorRow, row: MirrorRow): MirrorRow {
  const [older, newer] = row.observedAtMicros >= held.observedAtMicros ? [held, row] : [row, held];
  return {
    ...newer,
    values: newer.values.map((value, place) => (value === undefined ? older.values[place] : value)),
    extra: older.extra === null ? newer.extra : { ...older.extra, ...newer.extra },
  };
}

function groupByColumns(table: MirroredTable, byId: ReadonlyMap<string, MirrorRow>): RowGroup[] {
  // By the columns that are carried, as bits: no table has as many columns as a number has bits.
  const groups = new Map<number, MirrorRow[]>();
  for (const row of byId.values()) {
    const { values } = row;
    let carried = 0;
    for (let place = 0; place < values.length; place += 1) {
      if (values[place] !== undefined) carried |= 1 << place;
    }
    const rows = groups.get(carried);
    if (rows === undefined) groups.set(carried, [row]);
    else rows.push(row);
  }
  const places = COLUMN_NAMES[table].map((_, place) => place);
  return [...groups].map(([carried, rows]) => ({
    table,
    places: places.filter((place) => (carried & (1 << place)) !== 0),
    rows,
  }));
}
