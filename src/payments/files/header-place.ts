// Finds the header of the table in a file: a title may be above it, and other sheets before it. Pure.

import { identifiersIn } from '../../contract/fields.ts';
import { quote } from '../timestamps.ts';
import type { RawRow } from './raw-table.ts';

/** So many rows of a sheet or a CSV may hold the header; a provider's title above one is shorter. */
const FIRST_ROWS = 50;

const KEYS = ['commission_id', 'payout_id', 'affiliate'];

/** Returns which column a name in a header is; null for one that is not read. */
export type FindColumn = (name: string) => string | null;

/** The rows of a sheet, or of a CSV, without blank ones. */
export interface Rows {
  /** Null: a CSV has no name for its one table. */
  readonly sheet: string | null;
  readonly rows: readonly RawRow[];
}

export interface HeaderPlace<T extends Rows> {
  readonly table: T;
  /** In its rows. */
  readonly index: number;
}

/**
 * Returns where the header may be: each row that names commission_id (of a file of payouts: payout_id; of a provider's
 * payments: affiliate) and has rows below it. If there is none, the first that names it; else the row above the first
 * identifier, whose column has another name then; else the first row. Empty if no table has a row.
 */
export function findHeaders<T extends Rows>(tables: readonly T[], find: FindColumn): HeaderPlace<T>[] {
  const places = tables.flatMap((table) =>
    table.rows.slice(0, FIRST_ROWS).map((row, index) => ({ table, index, row })),
  );
  const named = places.filter(({ row }) =>
    row.cells.some((cell) => typeof cell === 'string' && KEYS.includes(find(cell) ?? '')),
  );
  const full = named.filter(({ table, index }) => index + 1 < table.rows.length);
  if (full.length > 0) return full;
  const first = places.find(({ row, index }) => index > 0 && row.cells.some(isIdentifier));
  const above = places.find(({ table, index }) => table === first?.table && index === first.index - 1);
  return [named[0] ?? above ?? places[0] ?? []].flat();
}

/** Describes the problem of a header in several places. */
export function describePlaces(places: readonly HeaderPlace<Rows>[]): string {
  const words = places.map(({ table, index }) => {
    const line = `line ${table.rows[index]?.line}`;
    return table.sheet === null ? line : `${line} of the sheet ${quote(table.sheet)}`;
  });
  const hide = new Set(places.map(({ table }) => table)).size > 1 ? ', or hide the other sheets' : '';
  return `the header is in several places (${words.join(', ')}), and one table is read: put all rows under one header${hide}`;
}

function isIdentifier(cell: unknown): boolean {
  return typeof cell === 'string' && identifiersIn(cell).length > 0;
}
