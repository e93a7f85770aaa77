// Joins the rows of several pages into as few statements as possible: a record that is on two pages goes into two of
// them, as if the pages were loaded one after the other.

import { joinBinaryArrays, sliceBinaryArray, toBinaryArray } from './binary-array.ts';
import { LOAD_ORDER } from './mirrored-tables.ts';
import type { EncodedRows } from './page-rows.ts';

/** Returns the rows of each statement, in the order in which they are to be sent: table by table, in load order. */
export function joinRows(pages: readonly (readonly EncodedRows[])[]): readonly EncodedRows[] {
  const byTable = Map.groupBy(pages.flat(), ({ table }) => table);
  return LOAD_ORDER.flatMap((table) =>
    splitRounds(byTable.get(table) ?? []).flatMap((round) =>
      [...Map.groupBy(round, ({ places }) => places.join()).values()].map(joinAlike),
    ),
  );
}

/** Splits the rows of one table, in order, so that no record is twice in one of the results. */
function splitRounds(pages: readonly EncodedRows[]): EncodedRows[][] {
  const rounds: EncodedRows[][] = [];
  let met = new Set<string>();
  for (const rows of pages) {
    if (rounds.length === 0 || rows.ids.some((id) => met.has(id))) {
      rounds.push([]);
      met = new Set();
    }
    for (const id of rows.ids) met.add(id);
    rounds.at(-1)?.push(rows);
  }
  return rounds;
}

function joinAlike(alike: readonly EncodedRows[]): EncodedRows {
  const [first] = alike;
  if (first === undefined) throw new TypeError('no rows to join');
  if (alike.length === 1) return first;
  const hasExtra = alike.some(({ extras }) => extras !== null);
  return {
    table: first.table,
    ids: alike.flatMap(({ ids }) => ids),
    places: first.places,
    columns: first.columns.map((_, index) =>
      joinBinaryArrays(alike.flatMap(({ columns }) => columns[index] ?? [])),
    ),
    extras: hasExtra ? joinBinaryArrays(alike.map((rows) => rows.extras ?? noExtras(rows))) : null,
    observedAt: joinBinaryArrays(alike.map(({ observedAt }) => observedAt)),
  };
}

/** Returns the rows from one place up to another. */
export function sliceRows(rows: EncodedRows, from: number, to: number): EncodedRows {
  const slice = (array: Buffer) => sliceBinaryArray(array, from, to);
  return {
    ...rows,
    ids: rows.ids.slice(from, to),
    columns: rows.columns.map(slice),
    extras: rows.extras === null ? null : slice(rows.extras),
    observedAt: slice(rows.observedAt),
  };
}

function noExtras({ ids }: EncodedRows): Buffer {
  return toBinaryArray(
    'jsonb',
    ids.map(() => null),
  );
}
