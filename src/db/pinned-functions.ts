// The functions that find the mirror's tables by a search path of their own, which names the schema that they were made
// in. A schema that is renamed keeps that path: what its triggers note would go into another mirror that has the former
// name by now, or nowhere. So the path is compared with the schema's own name at every start, and `migrate` sets it
// right.

import { escapeIdentifier, type PoolClient } from 'pg';
import { SchemaMismatch } from '../errors.ts';

/** A test compares them with what the migrations make. A function of somebody else is left alone. */
export const PINNED_FUNCTIONS: readonly string[] = [
  'stamp_changes',
  'record_changes',
  'record_insertions',
  'take_permit',
  'learn_limits',
  'return_permit',
  'take_turns_requesting',
  'check_commission_update',
  'announce_commission_updates',
  'lock_for_storing',
  'find_forgotten',
  'names_forgotten',
  'only_figures',
  'without_person',
  'keep_out_affiliate',
  'keep_out_link',
  'keep_out_referral',
  'keep_out_extra',
  'keep_out_rejected',
  'keep_out_refusal',
  'keep_out_inserted',
  'keep_out_forgotten',
  'referrals_at',
];

export interface AstrayFunction {
  readonly name: string;
  /** Its full name with the types of its parameters, quoted where needed. */
  readonly signature: string;
  /** The search path that it has. */
  readonly path: string;
}

/** Returns the functions of the mirror that look for its tables in another schema than it is in now. */
export async function findAstrayFunctions(
  client: Pick<PoolClient, 'query'>,
  schema: string,
): Promise<readonly AstrayFunction[]> {
  const { rows } = await client.query<AstrayFunction>(
    `select proname::text as name, function.oid::regprocedure::text as signature, found.path
     from pg_proc function
     join pg_namespace on pg_namespace.oid = pronamespace,
     lateral (select substr(setting, length('search_path=') + 1) as path
              from unnest(proconfig) setting where setting like 'search_path=%') found
     where nspname = $1 and proname = any ($2)
       and found.path not in (quote_ident(nspname), quote_ident(nspname) || $3)
     order by proname`,
    [schema, PINNED_FUNCTIONS, TEMPORARY_LAST],
  );
  return rows;
}

/** Points them at the schema that they are in, all of them or none. Needs their owner's rights. */
export async function repinFunctions(
  client: Pick<PoolClient, 'query'>,
  schema: string,
  functions: readonly AstrayFunction[],
): Promise<void> {
  const statements = functions.map(({ signature, path }) => {
    const last = path.endsWith(TEMPORARY_LAST) ? TEMPORARY_LAST : '';
    return `alter function ${signature} set search_path to ${escapeIdentifier(schema)}${last}`;
  });
  // Sent as one text, they are one transaction.
  await client.query(statements.join('; '));
}

/** Throws: SchemaMismatch where a function of the mirror looks for its tables in another schema. */
export async function refuseAstrayFunctions(
  client: Pick<PoolClient, 'query'>,
  schema: string,
): Promise<void> {
  const [first] = await findAstrayFunctions(client, schema);
  if (first === undefined) return;
  const { name, path } = first;
  throw new SchemaMismatch(
    `the functions of the schema ${schema} work on tables of another one (${name} on ${path.replace(TEMPORARY_LAST, '')}), as after a rename: run affiliate-mirror migrate`,
  );
}

/** Of functions with their owner's rights: temporary tables, which the caller may have made, come last. */
const TEMPORARY_LAST = ', pg_temp';
