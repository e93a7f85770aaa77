// Row level security leaves rows out without an error, and no row is an answer to much that is asked here: no person
// was forgotten, no payment waits, all is paid. So on every connection Postgres refuses instead (session.ts), and this
// says which table that is about and what to do. A policy that shows every row is refused too: Postgres does not say
// what a policy shows.

import { DatabaseError, type Pool } from 'pg';
import { AccessRefused } from '../errors.ts';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES } from './relations.ts';

/** The function of Postgres that refuses: its message is in the language of the server. */
const REFUSING_ROUTINE = 'check_enable_rls';

/** Returns whether Postgres refused because row level security would leave rows out. */
export function isRowSecurity(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.routine === REFUSING_ROUTINE;
}

/** Returns that refusal with what to do. Postgres' own message, which is its cause, names the table. */
export function asRowSecurity(cause: DatabaseError): AccessRefused {
  return new AccessRefused(
    `row level security would leave out rows, so Postgres refuses: ${sayRemedy('…', '…')}`,
    {
      cause,
    },
  );
}

/**
 * Resolves where this role sees every row of the mirror's tables.
 *
 * Throws: AccessRefused naming the first table and what to do; the database's errors.
 */
export async function refuseRowSecurity(client: Pick<Pool, 'query'>, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string; role: string }>(
    `select format('%I.%I', nspname, relname) as name, quote_ident(current_user) as role
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = $1 and relname = any ($2) and row_security_active(pg_class.oid)
     order by 1`,
    [schema, [...ANALYST_RELATIONS, ...BOOKKEEPING_TABLES]],
  );
  const [first] = rows;
  if (first === undefined) return;
  throw new AccessRefused(
    `row level security would leave out rows of ${first.name}, so Postgres refuses to read it: ${sayRemedy(first.name, first.role)}`,
  );
}

function sayRemedy(table: string, role: string): string {
  return `have its owner run "alter table ${table} disable row level security" ("no force row level security" for the owner itself), or a superuser "alter role ${role} bypassrls"`;
}
