// Finds out whether the program spells its identifiers in another case than the mirror has them. Reads only.
//
// To Postgres "3f" is not "3F", and neither to the contract: an identifier is text. A program that changes the case
// makes every record a second row beside its old one, which then looks deleted. Looked up by primary key, in both
// spellings that a UUID has: an index over lower(id) would slow down every load.

import { type RawBuilder, sql } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import type { MirroredTable } from '../records/mirrored-tables.ts';
import type { ReadPages } from '../records/read-page.ts';

export interface Respelled {
  readonly table: MirroredTable;
  /** As the program spells it now, and as the mirror has it. */
  readonly id: string;
  readonly known: string;
}

export interface IdSpelling {
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
): Promise<IdSpelling> {
  const byTable = idsByTable(rows);
  const anyRow = sql`select 'any' as held_in, id from (select id from ${sql.table(resource)} limit 1) one`;
  const held = await findHeld(db, byTable, [anyRow]);
  const ownFirst = byTable.toSorted((a, b) => Number(b.table === resource) - Number(a.table === resource));
  for (const group of ownFirst) {
    const others = respelledOf(group, held);
    // One record that changed its case concerns itself alone; most of a page concern the whole list.
    const same = group.ids.filter((id) => held.has(keyOf(group.table, id))).length;
    const [respelled] = others;
    if (respelled !== undefined && others.length > same) return { respelled, isSettled: true };
  }
  const heldIn = new Set([...held].map((key) => key.split(' ')[0]));
  return { respelled: null, isSettled: !heldIn.has('any') || heldIn.has(resource) };
}

/** Returns a record of these, nested ones among them, that the mirror has in another case only; null where none is. */
export async function findRespelled(
  db: Database | DatabaseTransaction,
  { rows }: Pick<ReadPages, 'rows'>,
): Promise<Respelled | null> {
  const byTable = idsByTable(rows);
  if (byTable.length === 0) return null;
  const held = await findHeld(db, byTable);
  return byTable.flatMap((group) => respelledOf(group, held))[0] ?? null;
}

/**
 * Returns which of the rows of these identifiers have another beside them that is not marked deleted, and whose
 * identifier differs from theirs in case only.
 */
export async function findSpelledTwice(
  db: Database,
  table: ListedResource,
  ids: readonly string[],
): Promise<readonly Respelled[]> {
  const { rows } = await sql<Respelled>`
    select ${table} as "table", spelled.id, known.id as known
    from unnest(${[...ids]}::text[]) as known (id)
    join ${sql.table(table)} spelled on spelled.id in (lower(known.id), upper(known.id)) and spelled.id <> known.id
    where spelled._deleted_at is null order by known.id`.execute(db);
  return rows;
}

/** Returns in words what is wrong. */
export function describeRespelled({ table, id, known }: Respelled): string {
  return `the program now spells identifiers in another case: ${id} in ${table} is ${known} in the mirror`;
}

interface TableIds {
  readonly table: MirroredTable;
  readonly ids: readonly string[];
}

function idsByTable(rows: ReadPages['rows']): TableIds[] {
  return [...Map.groupBy(rows, ({ table }) => table)].map(([table, groups]) => ({
    table,
    ids: groups.flatMap(({ ids }) => ids),
  }));
}

/** Returns the keys of those that the mirror has, in any spelling, and of the rows that `others` select. */
async function findHeld(
  db: Database | DatabaseTransaction,
  byTable: readonly TableIds[],
  others: readonly RawBuilder<unknown>[] = [],
): Promise<ReadonlySet<string>> {
  const lookups = byTable.map(({ table, ids }) => {
    const spellings = [...new Set(ids.flatMap((id) => [id, ...otherSpellings(id)]))];
    return sql`select ${table}::text as held_in, id from ${sql.table(table)} where id = any(${spellings}::text[])`;
  });
  const { rows } = await sql<{ held_in: string; id: string }>`
    ${sql.join([...lookups, ...others], sql` union all `)}`.execute(db);
  return new Set(rows.map(({ held_in, id }) => keyOf(held_in, id)));
}

function respelledOf({ table, ids }: TableIds, held: ReadonlySet<string>): Respelled[] {
  return ids.flatMap((id) => {
    const known = otherSpellings(id).find((spelling) => held.has(keyOf(table, spelling)));
    return known === undefined || held.has(keyOf(table, id)) ? [] : [{ table, id, known }];
  });
}

function keyOf(heldIn: string, id: string): string {
  return `${heldIn} ${id}`;
}

function otherSpellings(id: string): string[] {
  return [id.toLowerCase(), id.toUpperCase()].filter((spelling) => spelling !== id);
}
