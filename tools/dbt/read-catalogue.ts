// What the database says of the mirror's relations, for the dbt package: comments, keys, checks.

import type { Pool } from '../../src/db/connect/shared-pool.ts';

export interface CatalogueColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string;
  readonly isNotNull: boolean;
  /** Whether it alone is the primary key; of a view, whether its comment says so. */
  readonly isKey: boolean;
  /** The values that a check allows; null where it allows any. */
  readonly values: readonly string[] | null;
}

export interface CatalogueRelation {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly CatalogueColumn[];
}

/** Returns the relations of a schema that are meant for analysis, by name, with their columns in order. */
export async function readCatalogue(pool: Pool, schema: string): Promise<readonly CatalogueRelation[]> {
  const { rows } = await pool.query<CatalogueRelation>(
    `select relation.relname as name, obj_description(relation.oid, 'pg_class') as comment,
       json_agg(json_build_object(
         'name', attname,
         'type', format_type(atttypid, null),
         'comment', col_description(relation.oid, attnum),
         'isNotNull', attnotnull,
         'isKey', coalesce(key.conkey = array[attnum], col_description(relation.oid, attnum) ~ '(^|[.] )Primary key[.]'),
         'values', allowed.list
       ) order by attnum) as columns
     from pg_class relation
     join pg_attribute on attrelid = relation.oid and attnum > 0 and not attisdropped
     left join pg_constraint key on key.conrelid = relation.oid and key.contype = 'p'
     left join lateral (
       select (select array_agg(found[1]) from regexp_matches(pg_get_constraintdef(oid), '''([a-z_ ]+)''::text', 'g') found) as list
       from pg_constraint
       where conrelid = relation.oid and contype = 'c' and conkey = array[attnum]
         and pg_get_constraintdef(oid) ~ '^CHECK \\(\\(\\w+ = ANY \\(ARRAY\\['
     ) allowed on true
     where relation.relnamespace = to_regnamespace($1) and relkind in ('r', 'v')
       and obj_description(relation.oid, 'pg_class') !~ 'Nothing for analysis'
     group by relation.oid, relation.relname
     order by relation.relname`,
    [schema],
  );
  return rows;
}
