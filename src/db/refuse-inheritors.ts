// Tables that inherit from one of the mirror: whatever reads the mirror's table reads their rows too.

import type { Pool } from 'pg';
import { SchemaMismatch } from '../errors.ts';

/** Throws: SchemaMismatch naming one of them, with what to run. */
export async function refuseInheritors(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ child: string; parent: string }>(
    `select format('%I.%I', child_schema.nspname, child.relname) as child,
       format('%I.%I', $1::text, parent.relname) as parent
     from pg_inherits
     join pg_class parent on parent.oid = inhparent and parent.relkind = 'r'
     join pg_namespace on pg_namespace.oid = parent.relnamespace and pg_namespace.nspname = $1
     join pg_class child on child.oid = inhrelid
     join pg_namespace child_schema on child_schema.oid = child.relnamespace
     order by 1`,
    [schema],
  );
  const [first] = rows;
  if (first === undefined) return;
  const { child, parent } = first;
  const others = rows.length === 1 ? '' : ` (and ${rows.length - 1} more inherit)`;
  throw new SchemaMismatch(
    `the table ${child} inherits from ${parent}${others}, so that its rows count in every figure of the mirror: run "alter table ${child} no inherit ${parent}"`,
  );
}
