// The numbers that Postgres gives to new rows. Logical replication copies rows, and not how far their numbers have
// come: in the database that a mirror moved to they begin at 1, and each new row meets the key of one that is there.

import type { PoolClient } from 'pg';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES } from './relations.ts';

interface BehindIdentity {
  /** With its column: referrals._row_number. */
  readonly name: string;
  readonly sequence: string;
  /** The highest number that a row has. */
  readonly highest: number;
}

/** Returns the identities of which a row has the next number, or a higher one. Reads one row of each by its index. */
export async function findIdentitiesBehind(
  client: Pick<PoolClient, 'query'>,
  schema: string,
): Promise<readonly BehindIdentity[]> {
  const { rows: there } = await client.query<{ statement: string }>(
    `select format(
         'select %L as name, %L as sequence, highest from (select max(%I) as highest from %s) kept, %s numbers
          where highest >= last_value + is_called::integer',
         relname || '.' || attname, sequence, attname, pg_class.oid::regclass, sequence) as statement
     from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace,
       pg_get_serial_sequence(attrelid::regclass::text, attname) as sequence
     where nspname = $1 and attidentity <> '' and relname = any ($2)
     order by relname`,
    [schema, [...ANALYST_RELATIONS, ...BOOKKEEPING_TABLES]],
  );
  if (there.length === 0) return [];
  const { rows } = await client.query<BehindIdentity>(
    there.map(({ statement }) => statement).join(' union all '),
  );
  return rows;
}

/** Lets them go on behind the highest number that a row has. Needs their owner's rights. */
export async function advanceIdentities(
  client: Pick<PoolClient, 'query'>,
  behind: readonly BehindIdentity[],
): Promise<void> {
  for (const { sequence, highest } of behind) {
    await client.query('select setval($1::regclass, $2::bigint)', [sequence, highest]);
  }
}
