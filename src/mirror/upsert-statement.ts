// Builds the text of the statement that loads rows of one table, whatever the table has.
//
// It first compares: a row whose own content is the same is neither written nor locked. (`on conflict do
// update` locks and logs a row even where its `where` is false, so it alone would not do.)
// Two ways to write what remains, because plain inserts are a third faster than `on conflict` (800 against 1,350 ms
// for 100,000 referrals, with binary arrays):
// * alone: nothing else is loaded meanwhile (see lockForLoading), so new rows are inserted and changed ones updated;
// * beside others: `on conflict do update`, rows in the order of their ids, and every condition is checked again on
//   the row once it is locked.
// The lateral join with its `offset 0` makes the planner do one look-up by key per row: without it, it reads the whole
// of a table of up to 200,000 rows for each batch (1,500 ms in 100,000 referrals).
// Not prepared under a name: a plan made on an empty table is kept and scans it when it is full (7,700 ms).

import { incomingRows, insertFrom, STAMP } from './load-statement.ts';
import { type UpsertShape, upsertConditions } from './upsert-conditions.ts';

/**
 * Returns the statement's text.
 *
 * Shape: its parameters are those of incomingRows. One row is returned: see Upserted.
 */
export function upsertStatement(shape: UpsertShape): string {
  const key = JSON.stringify(shape);
  let text = statements.get(key);
  if (text === undefined) {
    text = shape.how === 'beside' ? loadBeside(shape) : loadAlone(shape);
    // The program's records decide how many shapes there are: they must not fill the memory.
    if (statements.size >= STATEMENTS_KEPT) statements.clear();
    statements.set(key, text);
  }
  return text;
}

const STATEMENTS_KEPT = 500;

const statements = new Map<string, string>();

function loadBeside(shape: UpsertShape): string {
  const { differs, isDue, assignments } = upsertConditions(shape);
  // The stamp is a lock, which comes before those of rows: so it is taken here, where no row is locked yet, and not
  // first in the update of one. A row that is only touched takes none.
  const stamped = shape.touch
    ? `case when kept.id is null or ${differs('incoming')} then ${STAMP} end`
    : STAMP;
  return `with incoming as (
    ${incomingRows(shape)}
  ), compared as materialized (
    select incoming.*, kept.id is null as is_new, ${stamped} as _stamp
    from ${incomingBesideKept(shape)}
    where kept.id is null or (${isDue('incoming')})
  ), upserted as (
    ${insertFrom('compared', shape, 'coalesce(_stamp, _observed_at)')} order by id
    on conflict (id) do update set ${assignments('excluded')} where ${isDue('excluded')}
    returning kept.id, kept._first_seen_at = kept._observed_at as is_first,
      coalesce(kept._changed_at = change_stamp(), false) as is_changed
  ), written as (
    select is_first and compared.is_new as is_new, is_changed from upserted join compared using (id)
  )
  select count(*) filter (where is_new) as inserted,
         count(*) filter (where is_changed and not is_new) as updated,
         '{}'::bigint[] as inserted_numbers, '{}'::bigint[] as updated_numbers, '{}'::bigint[] as met_numbers
  from written`;
}

function loadAlone(shape: UpsertShape): string {
  const { table, how, touch } = shape;
  const { differs, isDue, assignments } = upsertConditions(shape);
  const number = how === 'numbered' ? 'kept._row_number' : 'null::bigint';
  const numbersOf = (set: string, filter: string) =>
    how === 'numbered'
      ? `(select coalesce(array_agg(_row_number) filter (where ${filter}), '{}') from ${set})`
      : `'{}'::bigint[]`;
  return `with incoming as (
    ${incomingRows(shape)}
  ), compared as materialized (
    select incoming.*, kept.id is null as is_new, ${number} as _row_number,
      kept.id is not null and ${isDue('incoming')} as is_due${touch ? `, ${differs('incoming')} as is_changed` : ''}
    from ${incomingBesideKept(shape)}
  ), inserted as (
    ${insertFrom('compared', shape)} where is_new returning ${number} as _row_number
  ), updated as (
    update ${table} kept set ${assignments('compared')} from compared
    where kept.id = compared.id and compared.is_due and ${isDue('compared')}
    returning ${number} as _row_number, ${touch ? 'compared.is_changed' : 'true'} as is_changed
  )
  select (select count(*) from inserted) as inserted,
         (select count(*) from updated where is_changed) as updated,
         ${numbersOf('inserted', 'true')} as inserted_numbers,
         ${numbersOf('updated', 'is_changed')} as updated_numbers,
         ${numbersOf('compared', 'not is_new')} as met_numbers`;
}

function incomingBesideKept({ table }: UpsertShape): string {
  return `incoming left join lateral (
      select * from ${table} where id = incoming.id offset 0
    ) kept on true`;
}
