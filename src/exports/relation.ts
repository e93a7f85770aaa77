// The relations that may be exported: the views of the reports schema, and the mirror's tables and views for analysts.
// Their columns come from the catalogue, so that a view of a later migration needs no line here.
//
// Decision: a name means the view of the reports schema, as an analyst expects. For changes (--since, --incremental) it
// means the mirror's table, because only that keeps deleted rows.

import { type ClientBase, escapeIdentifier } from 'pg';
import { ConfigError } from '../base/errors.ts';
import { reportsSchema } from '../config/program/sibling-schema.ts';
import type { Pool } from '../db/connect/shared-pool.ts';
import { ANALYST_RELATIONS } from '../db/relations.ts';

/** Decides how each format writes the values of a column. */
export type ColumnKind = 'text' | 'integer' | 'sum' | 'double' | 'boolean' | 'timestamp' | 'date' | 'json';

export interface Column {
  readonly name: string;
  /** As Postgres names it: `bigint`, `timestamp with time zone` … */
  readonly type: string;
  readonly kind: ColumnKind;
}

export interface Relation {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly Column[];
  /** Its primary key, in order; empty if it has none. */
  readonly key: readonly string[];
}

export interface RelationInput {
  readonly mirrorSchema: string;
  /** `referrals`, or with its schema `mirror.referrals`. */
  readonly name: string;
  /** Whether its changes are exported, with deletions. */
  readonly isForChanges: boolean;
}

/** The columns by which changed and deleted rows are found. */
export const CHANGED_AT = '_changed_at';
const DELETED_AT = '_deleted_at';

/** Returns the name for SQL. */
export function spellRelation({ schema, name }: Pick<Relation, 'schema' | 'name'>): string {
  return `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
}

export function hasColumn({ columns }: Pick<Relation, 'columns'>, name: string): boolean {
  return columns.some((column) => column.name === name);
}

/**
 * Returns the relation with that name.
 *
 * Throws: ConfigError with the known names, if it is none of them, or has no changes.
 */
export async function findRelation(client: ClientBase, input: RelationInput): Promise<Relation> {
  const { mirrorSchema, name, isForChanges } = input;
  const reports = reportsSchema(mirrorSchema);
  const { rows } = await client.query<Omit<Relation, 'key' | 'columns'> & { readonly has_changes: boolean }>(
    RELATIONS,
    [reports, mirrorSchema, ANALYST_RELATIONS, [CHANGED_AT, DELETED_AT]],
  );
  const named = rows.filter((row) => [row.name, `${row.schema}.${row.name}`].includes(name));
  const fitting = isForChanges ? named.filter(({ has_changes }) => has_changes) : named;
  const [found] = fitting;
  if (found !== undefined) return { ...found, ...(await readShape(client, found)) };
  const listed = (isForChanges ? rows.filter(({ has_changes }) => has_changes) : rows).map((row) =>
    row.schema === reports ? row.name : `${row.schema}.${row.name}`,
  );
  const why =
    named.length > 0
      ? `the changes of ${name} are not known: it has no columns ${CHANGED_AT} and ${DELETED_AT}. Name one of`
      : `there is no table or view ${name.trim() === '' ? 'without a name' : name} to export: name one of`;
  throw new ConfigError([`${why} ${listed.join(', ')}`]);
}

/** Throws: ConfigError with each relation that findRelation does not find. */
export async function checkRelations(
  pool: Pool,
  mirrorSchema: string,
  wanted: readonly Pick<RelationInput, 'name' | 'isForChanges'>[],
): Promise<void> {
  const problems: string[] = [];
  const client = await pool.connect();
  try {
    for (const one of wanted) {
      await findRelation(client, { ...one, mirrorSchema }).catch((error: unknown) => {
        if (!(error instanceof ConfigError)) throw error;
        problems.push(...error.problems);
      });
    }
  } finally {
    client.release();
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

// The reports first: their names win.
const RELATIONS = `
  select namespace.nspname as schema, relation.relname as name,
         (select count(*) from pg_attribute attribute
          where attribute.attrelid = relation.oid and attribute.attname = any($4::text[]) and not attisdropped
         ) = cardinality($4::text[]) as has_changes
  from pg_class relation
  join pg_namespace namespace on namespace.oid = relation.relnamespace
  where relation.relkind in ('r', 'p', 'v', 'm')
    and (namespace.nspname = $1 or (namespace.nspname = $2 and relation.relname = any($3::text[])))
  order by namespace.nspname = $1 desc, relation.relname`;

async function readShape(
  client: ClientBase,
  { schema, name }: Pick<Relation, 'schema' | 'name'>,
): Promise<Pick<Relation, 'columns' | 'key'>> {
  const { rows } = await client.query<{ name: string; type: string; base: string; place: number | null }>(
    COLUMNS,
    [schema, name],
  );
  return {
    columns: rows.map((row) => ({ name: row.name, type: row.type, kind: kindOf(row) })),
    key: rows
      .filter(({ place }) => place !== null)
      .toSorted((a, b) => Number(a.place) - Number(b.place))
      .map((row) => row.name),
  };
}

const COLUMNS = `
  select attribute.attname as name, format_type(attribute.atttypid, attribute.atttypmod) as type,
         case when type.typcategory = 'A' or type.typtype = 'c' then 'json' else type.typname end as base,
         array_position(key.conkey, attribute.attnum) as place
  from pg_class relation
  join pg_namespace namespace on namespace.oid = relation.relnamespace
  join pg_attribute attribute on attribute.attrelid = relation.oid
  join pg_type type on type.oid = attribute.atttypid
  left join pg_constraint key on key.conrelid = relation.oid and key.contype = 'p'
  where namespace.nspname = $1 and relation.relname = $2 and attribute.attnum > 0 and not attribute.attisdropped
  order by attribute.attnum`;

/** Sums of amounts, which may be more than a bigint holds. Every other numeric is a rate or an average. */
const SUM = 'numeric(38,0)';

function kindOf({ type, base }: { type: string; base: string }): ColumnKind {
  return type === SUM ? 'sum' : (KINDS[base] ?? 'text');
}

/** By Postgres' own name of the type; every other one is written as its text. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  float4: 'double',
  float8: 'double',
  numeric: 'double',
  bool: 'boolean',
  timestamptz: 'timestamp',
  date: 'date',
  json: 'json',
  jsonb: 'json',
};
