// Finds out whether the program spells its identifiers in another case than the mirror has them. Reads only.
//
// To Postgres "3f" is not "3F", and neither to the contract: an identifier is text. A program that changes the case
// makes every record a second row beside its old one, which then looks deleted. Looked up by primary key, in both
// spellings that a UUID has: an index over lower(id) would slow down every load.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { MirroredTable } from '../records/mirrored-tables.ts';
import type { ReadPages } from '../records/read-page.ts';

export interface Respelled {
  readonly table: MirroredTable;
  /** As the program spells it now, and as the mirror has it. */
  readonly id: string;
  readonly known: string;
}

export interface Spelling {
  /**
   * A record, or one nested in it, that the mirror has in another case only, where more of the page's records are so
   * than are there as they are spelled; else null.
   */
  readonly respelled: Respelled | null;
  /** Whether the mirror knows any of the page's records, or has none at all: then further pages will show no more. */
  readonly isSettled: boolean;
}

/** Returns how the page's spelling compares with what the mirror holds. */
export async function compareSpelling(
  db: Database,
  resource: MirroredTable,
  { rows }: Pick<ReadPages, 'rows'>,
): Promise<Spelling> {
  const byTable = [...Map.groupBy(rows, ({ table }) => table)].map(([table, groups]) => ({
    table,
    ids: groups.flatMap(({ ids }) => ids),
  }));
  const lookups = byTable.map(({ table, ids }) => {
    const spellings = [...new Set(ids.flatMap((id) => [id, ...otherSpellings(id)]))];
    return sql`select ${table}::text as held_in, id from ${sql.table(table)} where id = any(${spellings}::text[])`;
  });
  const anyRow = sql`select 'any' as held_in, id from (select id from ${sql.table(resource)} limit 1) one`;
  const { rows: held } = await sql<{ held_in: string; id: string }>`
    ${sql.join([...lookups, anyRow], sql` union all `)}`.execute(db);
  const known = new Set(held.map(({ held_in, id }) => `${held_in} ${id}`));
  const isHeld = (table: string, id: string) => known.has(`${table} ${id}`);
  const ownFirst = byTable.toSorted((a, b) => Number(b.table === resource) - Number(a.table === resource));
  for (const { table, ids } of ownFirst) {
    const others = ids.flatMap((id) => {
      const other = otherSpellings(id).find((spelling) => isHeld(table, spelling));
      return other === undefined || isHeld(table, id) ? [] : [{ table, id, known: other }];
    });
    // One record that changed its case concerns itself alone; most of a page concern the whole list.
    const same = ids.filter((id) => isHeld(table, id)).length;
    const [respelled] = others;
    if (respelled !== undefined && others.length > same) return { respelled, isSettled: true };
  }
  const isEmpty = held.every(({ held_in }) => held_in !== 'any');
  return { respelled: null, isSettled: isEmpty || held.some(({ held_in }) => held_in === resource) };
}

function otherSpellings(id: string): string[] {
  return [id.toLowerCase(), id.toUpperCase()].filter((spelling) => spelling !== id);
}
