// The numbers that Postgres gives to new rows. Logical replication copies rows, and not how far their numbers have
// come: in the database that a mirror moved to they begin at 1, and each new row meets the key of one that is there.

import { DatabaseError, escapeIdentifier, escapeLiteral, type Pool, type PoolClient } from 'pg';
import { SchemaMismatch } from '../errors.ts';

/** The mirror's identity columns, by table. A test compares them, and their keys, with what the migrations make. */
const IDENTITIES: Readonly<Record<string, string>> = {
  affiliates: '_row_number',
  alert_notices: 'id',
  alerts: 'id',
  campaigns: '_row_number',
  commission_update_attempts: 'id',
  commission_updates: 'id',
  commissions: '_row_number',
  forgotten_people: 'number',
  record_history: 'id',
  referrals: '_row_number',
  rejected_records: 'id',
  request_permits: 'id',
  sync_runs: 'id',
};

/** The key of each. */
export const IDENTITY_KEYS: readonly string[] = Object.entries(IDENTITIES).map(([table, column]) =>
  column === '_row_number' ? `${table}_${column}_key` : `${table}_pkey`,
);

/** Returns whether a new row was refused because a row has its number already. */
export function isNumberTaken(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && IDENTITY_KEYS.includes(error.constraint ?? '');
}

/** Returns what that means, to be read after the name of the table. */
export const NUMBERS_BEHIND =
  'gives new rows numbers that other rows have, as in a database that moved by logical replication: run affiliate-mirror migrate';

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
  const { rows: there } = await client.query<{ table: string; column: string; sequence: string }>(
    `select relname as table, attname as column, pg_get_serial_sequence(attrelid::regclass::text, attname) as sequence
     from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and attidentity <> '' and $2::jsonb ->> relname = attname
     order by relname`,
    [schema, IDENTITIES],
  );
  if (there.length === 0) return [];
  const { rows } = await client.query<BehindIdentity>(
    there
      .map(
        ({ table, column, sequence }) => `
          select ${escapeLiteral(`${table}.${column}`)} as name, ${escapeLiteral(sequence)} as sequence, highest
          from (select max(${column}) as highest from ${escapeIdentifier(schema)}.${table}) kept, ${sequence} numbers
          where highest >= last_value + is_called::integer`,
      )
      .join(' union all '),
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

/** Throws: SchemaMismatch naming the first table whose new rows would get a number that a row has. */
export async function refuseIdentitiesBehind(pool: Pool, schema: string): Promise<void> {
  const [first, ...more] = await findIdentitiesBehind(pool, schema);
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.map(({ name }) => name).join(', ')})`;
  throw new SchemaMismatch(`${first.name}${others} ${NUMBERS_BEHIND}`);
}
