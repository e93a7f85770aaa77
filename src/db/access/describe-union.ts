// The reports of all programs in one schema, as SQL for a DBA to read and run: views that are a `union all`.
//
// That SQL reads the columns from the catalogue when it runs. With every branch written out, a hundred programs would
// make half a megabyte, out of date after the next migration; this one is as long as the list of programs, and needs
// no connection to be made.
//
// The views are `security_invoker` and open to PUBLIC: a reader needs rights of his own on the reports of every
// program. So they give away nothing, and a right that is taken back there is gone here too.

import { escapeIdentifier, escapeLiteral } from 'pg';
import { reportsSchema } from '../../config/program/sibling-schema.ts';

export interface UnionInput {
  /** The schema of the views. */
  readonly schema: string;
  /** The names of the reports. */
  readonly reports: readonly string[];
  readonly programs: readonly { readonly name: string; readonly mirrorSchema: string }[];
}

/** Begins the comment of each view that it makes: it drops no other. */
const MADE = 'Of all programs. ';

/** Returns the SQL, in one transaction. Idempotent: yes. It fails if the reports of two programs differ. */
export function describeUnion({ schema, reports, programs }: UnionInput): string {
  const listed = programs.map(
    ({ name, mirrorSchema }) => `(${escapeLiteral(name)}, ${escapeLiteral(reportsSchema(mirrorSchema))})`,
  );
  return `-- The reports of all programs; the first column is the name of the program.
-- Run it after affiliate-mirror migrate, as the role that ran that, or as a superuser; again after an update, and when
-- the list of programs changes. It opens no report to a role: that is what affiliate-mirror grants prints.
begin;
create schema if not exists ${escapeIdentifier(schema)};
grant usage on schema ${escapeIdentifier(schema)} to public;
do $union$
declare
  target constant text := ${escapeLiteral(schema)};
  reports constant text[] := array[${reports.map(escapeLiteral).join(', ')}];
  made record;
begin
  for made in
    with columns as (
      select program, report, format('%I.%I', schema, report) as view, attname, attnum,
        attname || ' ' || format_type(atttypid, atttypmod) as shape
      from (values
        ${listed.join(',\n        ')}
      ) as listed (program, schema)
      cross join unnest(reports) as named (report)
      left join pg_attribute on attrelid = to_regclass(format('%I.%I', schema, report)) and attnum > 0 and not attisdropped
    ), branches as (
      select report, view, array_agg(shape order by attname) filter (where attname is not null) as shape, format('select %L::text as program, %s from %s',
        program, string_agg(quote_ident(attname), ', ' order by attnum), view) as query
      from columns group by program, report, view
    )
    select format('%I.%I', target, report) as view, min(view) as first, string_agg(query, ' union all ') as query,
      (array_agg(view order by cardinality(shape) nulls first))[1] as poorest,
      count(shape) = count(*) and count(distinct shape) = 1 as agree
    from branches group by report order by report
  loop
    if not made.agree then
      raise exception '% is missing, or has other columns than those of other programs', made.poorest
        using hint = 'Nothing was changed: run affiliate-mirror migrate for all programs, then this again.';
    end if;
    execute format('create or replace view %s with (security_invoker) as %s', made.view, made.query);
    execute format('grant select on %s to public', made.view);
    execute format('comment on column %s.program is %L', made.view, 'The name of the program in PROGRAMS_FILE.');
    execute format('comment on view %s is %L', made.view, ${escapeLiteral(MADE)} || obj_description(made.first::regclass, 'pg_class'));
    execute (
      select string_agg(format('comment on column %s.%I is %L', made.view, attname, col_description(attrelid, attnum)), ';')
      from pg_attribute where attrelid = made.first::regclass and attnum > 0 and not attisdropped
    );
  end loop;
  for made in
    select format('%I.%I', target, relname) as view from pg_class
    where relnamespace = target::regnamespace and relkind = 'v' and relname <> all (reports)
      and obj_description(oid, 'pg_class') like ${escapeLiteral(`${MADE}%`)}
  loop
    execute format('drop view %s', made.view);
  end loop;
end
$union$;
commit;`;
}
