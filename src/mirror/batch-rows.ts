// The rows of a batch, one per record: what was observed twice in the batch is one row that says both.
// Knows nothing of statements.

import { LOAD_ORDER, type MirroredTable } from './mirrored-tables.ts';
import type { MirrorRow } from './rows-of-record.ts';

/** Rows of one table that carry the same columns. */
export interface RowGroup {
  readonly table: MirroredTable;
  readonly columns: readonly string[];
  readonly rows: readonly MirrorRow[];
}

export interface BatchRows {
  add(row: MirrorRow): void;
  /** Gives back the groups of each table that has rows, tables in load order, rows ordered by id. */
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
    columns: { ...older.columns, ...newer.columns },
    extra: older.extra === null ? newer.extra : { ...older.extra, ...newer.extra },
  };
}

function groupByColumns(table: MirroredTable, byId: ReadonlyMap<string, MirrorRow>): RowGroup[] {
  const groups = new Map<string, { columns: string[]; rows: MirrorRow[] }>();
  let last: { columns: string[]; rows: MirrorRow[] } | null = null;
  for (const row of [...byId.values()].sort((left, right) => (left.id < right.id ? -1 : 1))) {
    // Records of one list carry the same fields in the same order, as a rule: compare before sorting.
    if (last === null || !hasColumns(row, last.columns)) last = groupOf(groups, row);
    last.rows.push(row);
  }
  return [...groups.values()].map((group) => ({ table, ...group }));
}

function groupOf(groups: Map<string, { columns: string[]; rows: MirrorRow[] }>, row: MirrorRow) {
  const columns = Object.keys(row.columns).sort();
  const key = columns.join(',');
  let group = groups.get(key);
  if (group === undefined) {
    group = { columns, rows: [] };
    groups.set(key, group);
  }
  return group;
}

function hasColumns(row: MirrorRow, columns: readonly string[]): boolean {
  let count = 0;
  for (const _ in row.columns) count += 1;
  return count === columns.length && columns.every((column) => column in row.columns);
}
