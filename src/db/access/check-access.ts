// Checks the rights of the connected role before work fails for lack of one: tables, writes, number of connections.

import type { ClientBase } from 'pg';
import { AccessRefused } from '../../base/errors.ts';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { readSession, type Session } from '../connect/session.ts';
import type { Pool } from '../connect/shared-pool.ts';
import { READ_ONLY_DATABASE, sayRemedy } from '../database-errors.ts';
import { onlyRow } from '../only-row.ts';
import { RELATIONS } from '../relations.ts';
import { type GrantsInput, NOTED_IN } from './grants.ts';

/** Named in a message; the rest is counted. */
const MOST_NAMED = 3;

/**
 * Checks that this role has a worker's rights in the schemas, sees all rows of the mirror and may read the reports, and
 * that the database takes writes. A schema that is missing or has no tables yet is left to checkSchema; tables of other
 * owners are ignored.
 *
 * Throws: AccessRefused with the missing rights; the database's errors.
 */
export async function checkWorkerAccess(
  pool: Pool,
  { schema, queueSchema }: Pick<GrantsInput, 'schema' | 'queueSchema'>,
): Promise<void> {
  const schemas = [schema, ...(queueSchema === null ? [] : [queueSchema])];
  const notedIn = [NOTED_IN.mirror, NOTED_IN.queue].slice(0, schemas.length);
  const client = await pool.connect();
  let session: Session;
  let lacking: string[];
  try {
    session = readSession(client);
    const { rows } = await client.query<{ lacks: string }>(LACKING, [
      schemas,
      notedIn,
      reportsSchema(schema),
    ]);
    lacking = rows.map(({ lacks }) => lacks);
    await refuseReadOnly(client);
    if (lacking.length === 0) await refuseRowSecurity(client, schema);
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  if (lacking.length === 0) return;
  const more = lacking.length > MOST_NAMED ? ` and ${lacking.length - MOST_NAMED} more` : '';
  throw new AccessRefused(
    `the role ${session.role} lacks ${lacking.slice(0, MOST_NAMED).join('; ')}${more}: have the owner of the tables run what "affiliate-mirror grants worker --role ${quoteRole(session.role)}" prints`,
  );
}

/** Throws: AccessRefused if the database takes no writes now; the database's errors. */
export async function refuseReadOnly(connection: Pool | ClientBase): Promise<void> {
  const answer = await connection.query<{ is_read_only: boolean }>(
    `select current_setting('transaction_read_only') = 'on' as is_read_only`,
  );
  if (onlyRow(answer, 'the state of the database').is_read_only) throw new AccessRefused(READ_ONLY_DATABASE);
}

/**
 * Writes 8 MB to a temporary table, and drops it: only that shows whether the disk has room. Does nothing if the role
 * may not make one. Throws: the database's errors.
 */
export async function writeForTrial(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ may: boolean }>(
    `select has_database_privilege(current_database(), 'temporary') as may`,
  );
  if (rows[0]?.may !== true) return;
  await pool.query(
    `create temporary table trial on commit drop as select repeat('x', 1900) as text from generate_series(1, 4000)`,
  );
}

export interface ConnectionLimit {
  /** For example 'the role worker' or 'the server'. */
  readonly of: string;
  readonly most: number;
}

/** Returns the lowest limit that the connections of this role count against. Throws: the database's errors. */
export async function readConnectionLimit(pool: Pool): Promise<ConnectionLimit> {
  const answer = await pool.query<ConnectionLimit>(`
    select 'the role ' || rolname as of, rolconnlimit as most
    from pg_roles where rolname = current_user and rolconnlimit >= 0
    union all
    select 'the database ' || datname, datconnlimit
    from pg_database where datname = current_database() and datconnlimit >= 0
    union all
    select 'the server',
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
             - coalesce(current_setting('reserved_connections', true), '0')::int
    order by most limit 1`);
  return onlyRow(answer, 'the limit of connections');
}

/**
 * Row level security leaves rows out without an error, and no row often is an answer: no person was forgotten, no
 * payment is pending, all is paid. So Postgres refuses on every connection instead (session.ts); this names the table
 * and what to do. A policy that shows every row is refused too, because Postgres does not tell what a policy shows.
 *
 * Throws: AccessRefused; the database's errors.
 */
async function refuseRowSecurity(client: ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string; role: string }>(
    `select format('%I.%I', nspname, relname) as name, quote_ident(current_user) as role
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relname = any ($2) and row_security_active(pg_class.oid)
     order by 1`,
    [schema, RELATIONS],
  );
  const [first] = rows;
  if (first === undefined) return;
  throw new AccessRefused(
    `row level security would leave out rows of ${first.name}, so Postgres refuses to read it: ${sayRemedy(first.name, first.role)}`,
  );
}

function quoteRole(role: string): string {
  return /^\w+$/.test(role) ? role : `'${role.replaceAll("'", "'\\''")}'`;
}

const LACKING = `
  with searched as (
    select namespace.oid, namespace.nspname as schema, wanted.noted_in, noted.relowner as owner
    from unnest($1::text[], $2::text[]) as wanted (schema, noted_in)
    join pg_namespace namespace on namespace.nspname = wanted.schema
    join pg_class noted on noted.relnamespace = namespace.oid and noted.relname = wanted.noted_in
  )
  select format('usage on schema %I', schema) as lacks from searched where not has_schema_privilege(oid, 'usage')
  union all
  select format('%s on %I.%I', string_agg(lower(privilege), ', ' order by place), searched.schema, relation.relname)
  from searched
  join pg_class relation on relation.relnamespace = searched.oid and relation.relowner = searched.owner
  cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) with ordinality as needed (privilege, place)
  where (relation.relkind in ('r', 'p') or (relation.relkind = 'v' and privilege = 'SELECT'))
    and (relation.relname <> searched.noted_in or privilege = 'SELECT')
    and not has_table_privilege(relation.oid, privilege)
  group by searched.schema, relation.relname
  union all
  select format('select, usage on sequence %I.%I', searched.schema, relation.relname)
  from searched
  join pg_class relation on relation.relnamespace = searched.oid and relation.relowner = searched.owner
  -- The sequence of an identity column is used without a right, and read by doctor.
  where case relation.relkind
      when 'S' then not (has_sequence_privilege(relation.oid, 'usage') and has_sequence_privilege(relation.oid, 'select'))
      else false
    end
  union all
  select format('execute on function %I.%I', searched.schema, function.proname)
  from searched
  join pg_proc function on function.pronamespace = searched.oid and function.proowner = searched.owner
  where function.prorettype <> 'trigger'::regtype and not has_function_privilege(function.oid, 'execute')
  union all
  select format('usage on schema %I', nspname) from pg_namespace
  where nspname = $3 and not has_schema_privilege(oid, 'usage')
  union all
  select format('select on %I.%I', $3, relation.relname)
  from pg_namespace namespace
  join pg_class relation on relation.relnamespace = namespace.oid and relation.relkind = 'v'
  where namespace.nspname = $3 and not has_table_privilege(relation.oid, 'select')`;
