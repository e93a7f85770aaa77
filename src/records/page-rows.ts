// Collects the rows that are read together, one per record, and encodes them as the arrays that a statement takes:
// what was observed twice is one row that has both. Encoded at once, because buffers wait for their batch in less
// memory than the strings that they hold: 265 MB at the peak of a sync instead of 320. (Reusing the memory of batches
// that are loaded made no difference: V8 then collects later.)

import { toBinaryArray } from './binary-array.ts';
import { toColumnArray } from './column-array.ts';
import { COLUMN_NAMES, COLUMN_TYPES, LOAD_ORDER, type MirroredTable } from './mirrored-tables.ts';
import { type MirrorRow, withoutSpans } from './rows-of-record.ts';
import { isInSpans } from './spans.ts';

/** Rows of one table that have the same columns; no record twice. Each array is a binary parameter. */
export interface EncodedRows {
  readonly table: MirroredTable;
  readonly ids: readonly string[];
  /** The places of the columns that they have. */
  readonly places: readonly number[];
  /** One array per place. */
  readonly columns: readonly Buffer[];
  /** Fields that the contract does not know; null where no row has any. */
  readonly extras: Buffer | null;
  readonly observedAt: Buffer;
}

export interface PageRows {
  add(row: MirrorRow): void;
  /** Returns the rows by table, in load order, and by the columns that they have. */
  encode(): readonly EncodedRows[];
}

/** Returns an empty collection. */
export function makePageRows(): PageRows {
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
    encode() {
      return LOAD_ORDER.flatMap((table) => {
        const rows = tables.get(table);
        return rows === undefined ? [] : encodeTable(table, rows);
      });
    },
  };
}

// The same as loading first the older, then the newer one: what only the older has stays.
function merge(held: MirrorRow, row: MirrorRow): MirrorRow {
  const [one, other] = [withoutSpans(held), withoutSpans(row)];
  const [older, newer] = other.observedAtMicros >= one.observedAtMicros ? [one, other] : [other, one];
  return {
    ...newer,
    values: newer.values.map((value, place) => (value === undefined ? older.values[place] : value)),
    extra: older.extra === null ? newer.extra : { ...older.extra, ...newer.extra },
  };
}

function encodeTable(table: MirroredTable, byId: ReadonlyMap<string, MirrorRow>): EncodedRows[] {
  // By the columns that are there, as bits: no table has as many columns as a number has bits.
  const groups = new Map<number, MirrorRow[]>();
  for (const row of byId.values()) {
    const { values, spans } = row;
    let carried = 0;
    for (let place = 0; place < values.length; place += 1) {
      if (values[place] !== undefined || isInSpans(spans, place)) carried |= 1 << place;
    }
    const rows = groups.get(carried);
    if (rows === undefined) groups.set(carried, [row]);
    else rows.push(row);
  }
  return [...groups].map(([carried, rows]) => encodeRows(table, carried, rows));
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

function typeAt(table: MirroredTable, place: number) {
  const type = COLUMN_TYPES[table][COLUMN_NAMES[table][place] ?? ''];
  if (type === undefined) throw new TypeError(`${table} has no column ${place}`);
  return type;
}
