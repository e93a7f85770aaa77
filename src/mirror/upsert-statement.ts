// The text of the statement that loads rows of one table. Knows columns and conflicts, no values.
//
// Every load first compares: a row whose own content is the same is neither written nor locked. (`on conflict do
// update` locks and logs a row even where its `where` is false, so it alone would not do.)
// Two ways to write what remains, because plain inserts are a third faster than `on conflict` (800 against 1,350 ms
// for 100,000 referrals, with binary arrays):
// * alone: nobody else loads meanwhile (see loading-lock.ts), so new rows are inserted and changed ones updated;
// * beside others: `on conflict do update`, rows in the order of their ids, and every condition asked again of the
//   row as it is once it is locked.
// The lateral join with its `offset 0` holds the planner to one look-up by key per row: left to itself it reads the
// whole of a table of up to 200,000 rows for each batch (1,500 ms in 100,000 referrals).
// Not prepared under a name: a plan made on an empty table is kept and scans it when it is full (7,700 ms).

import { COLUMNS, type MirroredTable } from './mirrored-tables.ts';

export interface UpsertShape {
  readonly table: MirroredTable;
  /** The columns that the rows carry, id among them. */
  readonly columns: readonly string[];
  /** Whether any row has fields that the contract does not know. */
  readonly hasExtra: boolean;
  readonly isAlone: boolean;
  /** Whether an unchanged row takes the time of the observation all the same. */
  readonly touch: boolean;
}

/**
 * Gives back the statement's text.
 *
 * Shape: one array per column in order, then the extras (where there are any), then the observations in
 * timestamptz, then the ids whose writing is counted apart. One row comes back: inserted, updated, written_known.
 */
export function upsertStatement(shape: UpsertShape): string {
  const key = JSON.stringify(shape);
  let text = statements.get(key);
  if (text === undefined) {
    text = buildStatement(shape);
    // Upstream decides how many shapes there are; a program gone wild must not fill the memory.
    if (statements.size >= STATEMENTS_KEPT) statements.clear();
    statements.set(key, text);
  }
  return text;
}

const STATEMENTS_KEPT = 500;
const statements = new Map<string, string>();

function buildStatement({ table, columns, hasExtra, isAlone, touch }: UpsertShape): string {
  const types = COLUMNS[table];
  const arrays = columns.map((column, index) => `unnest($${index + 1}::${types.get(column)}[]) as ${column}`);
  let parameter = columns.length;
  if (hasExtra) arrays.push(`unnest($${++parameter}::jsonb[]) as _extra`);
  arrays.push(`unnest($${++parameter}::timestamptz[]) as _observed_at`);
  const knownIds = `$${++parameter}::text[]`;

  const content = columns.filter((column) => column !== 'id');
  const differs = (row: string) => {
    const tests = content.map((column) => `kept.${column} is distinct from ${row}.${column}`);
    // Unknown fields add to those that are there: a partial view must not blank what it does not carry.
    if (hasExtra) tests.push(`${mergedExtra(row)} is distinct from kept._extra`);
    return `(${['kept._deleted_at is not null', ...tests].join(' or ')})`;
  };
  const isDue = (row: string) =>
    `kept._observed_at <= ${row}._observed_at and ${
      touch ? `(kept._observed_at < ${row}._observed_at or ${differs(row)})` : differs(row)
    }`;
  const assignments = (row: string) =>
    [
      ...content.map((column) => `${column} = ${row}.${column}`),
      ...(hasExtra ? [`_extra = ${mergedExtra(row)}`] : []),
      touch
        ? `_changed_at = case when ${differs(row)} then ${row}._observed_at else kept._changed_at end`
        : `_changed_at = ${row}._observed_at`,
      `_observed_at = ${row}._observed_at`,
      '_deleted_at = null',
    ].join(', ');
  const insertColumns = [...columns, ...(hasExtra ? ['_extra'] : [])].join(', ');
  const insert = `insert into ${table} as kept (${insertColumns}, _first_seen_at, _changed_at, _observed_at)
    select ${insertColumns}, _observed_at, _observed_at, _observed_at from compared`;
  const changed = 'kept._changed_at = kept._observed_at as is_changed';

  const writing = isAlone
    ? `inserted as (
    ${insert} where is_new returning id
  ), updated as (
    update ${table} kept set ${assignments('compared')} from compared
    where kept.id = compared.id and not compared.is_new and ${isDue('compared')}
    returning kept.id, ${changed}
  ), written as (
    select id, true as is_new, true as is_changed from inserted
    union all select id, false, is_changed from updated
  )`
    : `upserted as (
    ${insert} order by id
    on conflict (id) do update set ${assignments('excluded')} where ${isDue('excluded')}
    returning kept.id, kept._first_seen_at = kept._observed_at as is_first, ${changed}
  ), written as (
    select id, is_first and compared.is_new as is_new, is_changed from upserted join compared using (id)
  )`;
  return `with incoming as (
    select ${arrays.join(', ')}
  ), compared as materialized (
    select incoming.*, kept.id is null as is_new
    from incoming left join lateral (
      select * from ${table} where id = incoming.id offset 0
    ) kept on true
    where kept.id is null or (${isDue('incoming')})
  ), ${writing}
  select count(*) filter (where is_new) as inserted,
         count(*) filter (where is_changed and not is_new) as updated,
         count(*) filter (where is_changed and id = any(${knownIds})) as written_known
  from written`;
}

function mergedExtra(row: string): string {
  return `case when ${row}._extra is null then kept._extra else coalesce(kept._extra, '{}') || ${row}._extra end`;
}
