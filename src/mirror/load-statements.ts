// The text of the statements that load the rows of a table. The stored rows are named `kept`, the sent ones `incoming`.
//
// A statement first compares: a row with the same content is neither written nor locked. (`on conflict do update` locks
// and logs a row even if its `where` is false.)
// Nothing else is loaded meanwhile (load-lock.ts), so the other rows are inserted or updated: plain inserts are a third
// faster than `on conflict` (800 against 1,350 ms for 100,000 referrals, with binary arrays).
// The lateral join with its `offset 0` makes the planner look each row up by its key. Without it, it reads a table of
// up to 200,000 rows whole for each batch (1,500 ms in 100,000 referrals).
// Not prepared under a name: a plan made on an empty table would scan it when it is full (7,700 ms).

import { COLUMN_NAMES, COLUMN_TYPES, type MirroredTable } from '../decode/mirrored-tables.ts';

export interface RowShape {
  readonly table: MirroredTable;
  /** The places of the columns that the rows have, with that of the id. */
  readonly places: readonly number[];
  /** Whether a row has fields that the contract does not know. */
  readonly hasExtra: boolean;
}

/** The only row of the answer: counts, and in a run the numbers of the rows of its own list; else no numbers. */
export interface Upserted {
  readonly inserted: number;
  readonly updated: number;
  readonly inserted_numbers: readonly number[];
  readonly updated_numbers: readonly number[];
  /** Of every row that was there before, changed or not. */
  readonly met_numbers: readonly number[];
}

/** A subquery, so that Postgres calls it at most once, and only in a statement that writes. */
const STAMP = '(select stamp_changes())';

export interface UpsertShape extends RowShape {
  /** Whether the numbers of the rows are returned; for tables that have such numbers. */
  readonly isNumbered: boolean;
  /** Whether an unchanged row takes the time of the observation, too. */
  readonly touch: boolean;
  /** Whether rows that are marked deleted exist again. A record that only names another does not show that. */
  readonly revives: boolean;
  /** Whether rows that have an affiliate keep it, and are not revived: only that affiliate's own record shows it. */
  readonly keepsOwner: boolean;
}

/** Returns the statement that inserts rows without comparing them. Shape: as upsertStatement. */
export function insertStatement(shape: RowShape): string {
  return `with inserted as (
    ${insertFrom(`(${incomingRows(shape)}) incoming`, shape)} returning kept._row_number
  )
  select count(*) as inserted, 0::bigint as updated, coalesce(array_agg(_row_number), '{}') as inserted_numbers,
         '{}'::bigint[] as updated_numbers, '{}'::bigint[] as met_numbers
  from inserted`;
}

/** Returns the statement. Shape: its parameters are those of incomingRows; its answer is Upserted. */
export function upsertStatement(shape: UpsertShape): string {
  const { table, isNumbered, touch } = shape;
  const { differs, isDue, assignments } = upsertConditions(shape);
  const number = isNumbered ? 'kept._row_number' : 'null::bigint';
  const numbersOf = (set: string, filter: string) =>
    isNumbered
      ? `(select coalesce(array_agg(_row_number) filter (where ${filter}), '{}') from ${set})`
      : `'{}'::bigint[]`;
  return `with incoming as (
    ${incomingRows(shape)}
  ), compared as materialized (
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

/** Returns the conditions, each as the text of an SQL expression. */
function upsertConditions(shape: UpsertShape) {
  const { hasExtra, touch, revives, keepsOwner } = shape;
  const content = columnsOf(shape).filter((column) => column !== 'id');
  const mayRevive = keepsOwner ? 'kept.affiliate_id is null' : 'true';
  const loadedValue = (column: string, row: string) =>
    keepsOwner && column === 'affiliate_id'
      ? `coalesce(kept.affiliate_id, ${row}.affiliate_id)`
      : `${row}.${column}`;

  function differs(row: string): string {
    const tests = content.map((column) => `kept.${column} is distinct from ${loadedValue(column, row)}`);
    if (hasExtra) tests.push(`${mergedExtra(row)} is distinct from kept._extra`);
    if (revives) tests.unshift(`(kept._deleted_at is not null and ${mayRevive})`);
    return `(${tests.join(' or ')})`;
  }

  function isDue(row: string): string {
    const isNotOlder = `kept._observed_at <= ${row}._observed_at`;
    const isOther = touch ? `(kept._observed_at < ${row}._observed_at or ${differs(row)})` : differs(row);
    return `${isNotOlder} and ${isOther}`;
  }

  function assignments(row: string): string {
    return [
      ...content.map((column) => `${column} = ${loadedValue(column, row)}`),
      ...(hasExtra ? [`_extra = ${mergedExtra(row)}`] : []),
      touch
        ? `_changed_at = case when ${differs(row)} then ${STAMP} else kept._changed_at end`
        : `_changed_at = ${STAMP}`,
      `_observed_at = ${row}._observed_at`,
      ...(revives ? [`_deleted_at = case when ${mayRevive} then null else kept._deleted_at end`] : []),
    ].join(', ');
  }

  return { differs, isDue, assignments };
}

// Unknown fields are added to the stored ones: a partial view must not empty the others.
function mergedExtra(row: string): string {
  return `case when ${row}._extra is null then kept._extra else coalesce(kept._extra, '{}') || ${row}._extra end`;
}

function columnsOf({ table, places }: RowShape): readonly string[] {
  return places.map((place) => COLUMN_NAMES[table][place] ?? '');
}

/**
 * Returns the query of the rows that are sent.
 *
 * Shape: its parameters are one array for each column in order, then the extras (if there are any), then the times of
 * observation.
 */
export function incomingRows(shape: RowShape): string {
  const columns = columnsOf(shape);
  const types = COLUMN_TYPES[shape.table];
  const arrays = columns.map((column, index) => `unnest($${index + 1}::${types[column]}[]) as ${column}`);
  let parameter = columns.length;
  if (shape.hasExtra) arrays.push(`unnest($${++parameter}::jsonb[]) as _extra`);
  arrays.push(`unnest($${++parameter}::timestamptz[]) as _observed_at`);
  return `select ${arrays.join(', ')}`;
}

/** Returns an insert of the rows of `source`, to which a `where` may be added. */
function insertFrom(source: string, shape: RowShape): string {
  const columns = [...columnsOf(shape), ...(shape.hasExtra ? ['_extra'] : [])].join(', ');
  return `insert into ${shape.table} as kept (${columns}, _first_seen_at, _changed_at, _observed_at)
    select ${columns}, _observed_at, ${STAMP}, _observed_at from ${source}`;
}
