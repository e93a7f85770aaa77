// Finds the full names that a person has in the mirror, and had in its history.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { nameSpellings } from './name-spellings.ts';
import type { Fields } from './rule.ts';
import { isHashed } from './values.ts';

/** The columns that make up a full name, in their order. */
const NAME_COLUMNS = { affiliates: ['first_name', 'last_name'], referrals: ['customer_name'] } as const;

type NamedTable = keyof typeof NAME_COLUMNS;

/** One word would be found in too much that is about somebody else. */
const IS_FULL_NAME = /[^\s,](?:\s|,)+[^\s,]/;

/** Returns the full names of the records, those of before included, where they are stored plain; also in reverse. */
export async function findNames(
  trx: DatabaseTransaction,
  records: Readonly<Record<NamedTable, readonly string[]>>,
): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const table of ['affiliates', 'referrals'] as const) {
    for (const fields of await readNamed(trx, table, records[table])) {
      const words = NAME_COLUMNS[table].flatMap((column) => {
        const value = fields[column];
        return typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : [];
      });
      const name = words.join(' ');
      if (!IS_FULL_NAME.test(name) || words.some(isHashed)) continue;
      for (const spelling of nameSpellings(name)) names.add(spelling);
    }
  }
  return [...names];
}

/**
 * Returns the names of the records as they are, and as they were at each change: a change holds the fields alone that
 * changed, so each is taken back from what came after it.
 */
async function readNamed(
  trx: DatabaseTransaction,
  table: NamedTable,
  ids: readonly string[],
): Promise<readonly Fields[]> {
  const columns = NAME_COLUMNS[table];
  const current = await sql<Fields & { id: string }>`
    select id, ${sql.join(columns.map((column) => sql.ref(column)))}
    from ${sql.table(table)} where id = any(${ids}::text[])
  `.execute(trx);
  const changes = await sql<{ record_id: string; before: Fields; after: Fields }>`
    select record_id, before, after from record_history
    where table_name = ${table} and record_id = any(${ids}::text[]) and before ?| ${columns}::text[]
    order by id desc
  `.execute(trx);
  const states = new Map<string, Fields>(current.rows.map(({ id, ...fields }) => [id, fields]));
  const seen: Fields[] = [...states.values()];
  for (const { record_id, before, after } of changes.rows) {
    const later = { ...states.get(record_id), ...after };
    const earlier = { ...later, ...before };
    seen.push(later, earlier);
    states.set(record_id, earlier);
  }
  return seen;
}
