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

import { columnsOf, incomingRows, insertFrom, type RowShape, STAMP } from './load-statement.ts';
import { wasObservedInFuture } from './observed-in-future.ts';

export interface UpsertShape extends RowShape {
  /**
   * `beside`: others may load meanwhile. `alone`: no other load does. `numbered`: the same, and the numbers of the
   * rows are returned; for tables that have such numbers.
   */
  readonly how: 'beside' | 'alone' | 'numbered';
  /** Whether an unchanged row takes the time of the observation, too. */
  readonly touch: boolean;
  /**
   * Whether rows that are marked deleted are there again. A record that merely names another one does not show that.
   */
  readonly revives: boolean;
  /** Whether rows that have an affiliate keep it, and are not revived: only that affiliate's own record may say so. */
  readonly keepsOwner: boolean;
}

/**
 * Returns the statement's text.
 *
 * Shape: its parameters are those of incomingRows. One row is returned: see Upserted.
 */
export function upsertStatement(shape: UpsertShape): string {
  const key = JSON.stringify(shape);
  let text = statements.get(key);
  if (text === undefined) {
    text = buildStatement(shape);
    // The program's records decide how many shapes there are: they must not fill the memory.
    if (statements.size >= STATEMENTS_KEPT) statements.clear();
    statements.set(key, text);
  }
  return text;
}

const STATEMENTS_KEPT = 500;

const statements = new Map<string, string>();

function buildStatement(shape: UpsertShape): string {
  const { table, hasExtra, how, touch, revives, keepsOwner } = shape;
  const columns = columnsOf(shape);
  const content = columns.filter((column) => column !== 'id');
  const loadedValue = (column: string, row: string) =>
    keepsOwner && column === 'affiliate_id'
      ? `coalesce(kept.affiliate_id, ${row}.affiliate_id)`
      : `${row}.${column}`;
  const mayRevive = keepsOwner ? 'kept.affiliate_id is null' : 'true';
  const differs = (row: string) => {
    const tests = content.map((column) => `kept.${column} is distinct from ${loadedValue(column, row)}`);
    // Unknown fields add to those that are there: a partial view must not blank what it does not have.
    if (hasExtra) tests.push(`${mergedExtra(row)} is distinct from kept._extra`);
    if (revives) tests.unshift(`(kept._deleted_at is not null and ${mayRevive})`);
    return `(${tests.join(' or ')})`;
  };
  const isDue = (row: string) =>
    `(kept._observed_at <= ${row}._observed_at or ${wasObservedInFuture('kept')}) and ${
      touch ? `(kept._observed_at < ${row}._observed_at or ${differs(row)})` : differs(row)
    }`;
  const assignments = (row: string) =>
    [
      ...content.map((column) => `${column} = ${loadedValue(column, row)}`),
      ...(hasExtra ? [`_extra = ${mergedExtra(row)}`] : []),
      touch
        ? `_changed_at = case when ${differs(row)} then ${STAMP} else kept._changed_at end`
        : `_changed_at = ${STAMP}`,
      `_observed_at = ${row}._observed_at`,
      ...(revives ? [`_deleted_at = case when ${mayRevive} then null else kept._deleted_at end`] : []),
    ].join(', ');
  const incoming = `with incoming as (
    ${incomingRows(shape)}
  )`;

  if (how === 'beside') {
    // The stamp is a lock, which comes before those of rows: so it is taken here, where no row is locked yet, and not
    // first in the update of one. A row that is only touched takes none.
    const stamped = touch ? `case when kept.id is null or ${differs('incoming')} then ${STAMP} end` : STAMP;
    const insert = insertFrom('compared', shape, 'coalesce(_stamp, _observed_at)');
    return `${incoming}, compared as materialized (
    select incoming.*, kept.id is null as is_new, ${stamped} as _stamp
    from incoming left join lateral (
      select * from ${table} where id = incoming.id offset 0
    ) kept on true
    where kept.id is null or (${isDue('incoming')})
  ), upserted as (
    ${insert} order by id
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
  const number = how === 'numbered' ? 'kept._row_number' : 'null::bigint';
  const numbersOf = (set: string, filter: string) =>
    how === 'numbered'
      ? `(select coalesce(array_agg(_row_number) filter (where ${filter}), '{}') from ${set})`
      : `'{}'::bigint[]`;
  return `${incoming}, compared as materialized (
    select incoming.*, kept.id is null as is_new, ${number} as _row_number,
      kept.id is not null and ${isDue('incoming')} as is_due${touch ? `, ${differs('incoming')} as is_changed` : ''}
    from incoming left join lateral (
      select * from ${table} where id = incoming.id offset 0
    ) kept on true
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

function mergedExtra(row: string): string {
  return `case when ${row}._extra is null then kept._extra else coalesce(kept._extra, '{}') || ${row}._extra end`;
}
