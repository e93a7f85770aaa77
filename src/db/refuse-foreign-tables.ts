// Another program may have tables of our names in the schema, such as affiliates. They are found before anything is
// made: the first migrations would be applied otherwise, and stay there when a later one meets such a table.

import type { PoolClient } from 'pg';
import { ConfigError } from '../errors.ts';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES } from './relations.ts';
import { reportsSchema } from './sibling-schema.ts';

/** Throws: ConfigError where a schema that no migration was applied to has tables or views of our names. */
export async function refuseForeignTables(client: Pick<PoolClient, 'query'>, schema: string): Promise<void> {
  // Our own schema_migrations may be there, empty, where the first migration failed: it alone has fingerprints.
  const { rows } = await client.query<{ name: string; found_in: string }>(
    `select relname as name, nspname as found_in from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = any ($1) and relname = any ($2)
       and not exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'sha256')
     order by 1`,
    [
      [schema, reportsSchema(schema)],
      [...ANALYST_RELATIONS, ...BOOKKEEPING_TABLES],
    ],
  );
  const [first] = rows;
  if (first === undefined) return;
  const names = rows.map(({ name }) => name).join(', ');
  throw new ConfigError([
    `the schema ${first.found_in} has tables of something else under names that the mirror needs (${names}): set MIRROR_SCHEMA to the name of a schema for the mirror alone`,
  ]);
}
