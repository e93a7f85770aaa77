// Row level security leaves rows out without an error, and no row is an answer to much that is asked here: no person
// was forgotten, no payment waits, all is paid. So on every connection Postgres refuses instead (session.ts), and this
// says which table that is about and what to do. A policy that shows every row is refused too: Postgres does not say
// what a policy shows.

import { type ClientBase, DatabaseError } from 'pg';
import { AccessRefused } from '../errors.ts';

/** The function of Postgres that refuses: its message is in the language of the server. */
const REFUSING_ROUTINE = 'check_enable_rls';

/** Returns whether Postgres refused because row level security would leave rows out. */
export function isRowSecurity(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.routine === REFUSING_ROUTINE;
}

/** Returns that refusal with what to do. Postgres' own message, which is its cause, names the table. */
export function asRowSecurity(cause: DatabaseError): AccessRefused {
  // Postgres has a hint for the owner of the table alone.
  const remedy = cause.hint === undefined ? disable('…', '…') : noForce('…');
  return new AccessRefused(`row level security would leave out rows, so Postgres refuses: ${remedy}`, {
    cause,
  });
}

interface Found {
  readonly name: string;
  readonly isForced: boolean;
  readonly role: string;
}

/**
 * Resolves where no row of the tables is left out: of those that the owner of the table `notedIn` has in each schema.
 *
 * Throws: AccessRefused naming the tables and what to do; the database's errors.
 */
export async function refuseRowSecurity(
  client: ClientBase,
  { schemas, notedIn }: { schemas: readonly string[]; notedIn: readonly string[] },
): Promise<void> {
  const { rows } = await client.query<Found>(TABLES, [schemas, notedIn]);
  const [first] = rows;
  if (first === undefined) return;
  const alike = rows.filter(({ isForced }) => isForced === first.isForced);
  const more = alike.length === 1 ? '' : ` (and alike for ${alike.length - 1} more)`;
  const remedy = first.isForced ? noForce(first.name, more) : disable(first.name, first.role, more);
  throw new AccessRefused(
    `row level security would leave out rows of ${first.name}, so Postgres refuses to read it: ${remedy}`,
  );
}

function disable(table: string, role: string, more = ''): string {
  return `have its owner run "alter table ${table} disable row level security"${more}, or a superuser "alter role ${role} bypassrls"`;
}

function noForce(table: string, more = ''): string {
  return `have its owner run "alter table ${table} no force row level security"${more}`;
}

// Where it is forced, views and functions with their owner's rights meet it too, whoever calls them.
const TABLES = `
  select format('%I.%I', nspname, relation.relname) as name,
         not row_security_active(relation.oid) or pg_has_role(relation.relowner, 'usage') as "isForced",
         quote_ident(current_user) as role
  from unnest($1::text[], $2::text[]) as wanted (schema, noted_in)
  join pg_namespace on nspname = schema
  join pg_class noted on noted.relnamespace = pg_namespace.oid and noted.relname = noted_in
  join pg_class relation on relation.relnamespace = pg_namespace.oid and relation.relowner = noted.relowner
  join pg_roles owner on owner.oid = relation.relowner
  where relation.relrowsecurity
    and (row_security_active(relation.oid)
         or relation.relforcerowsecurity and not owner.rolsuper and not owner.rolbypassrls)
  order by 2, 1`;
