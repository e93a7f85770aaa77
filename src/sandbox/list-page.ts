// Reads one page of a list in one statement, so that the rows and the total are of one moment, and makes its envelope.
//
// A list without a filter, or filtered by state only, is counted by day (counts.ts): the statement adds up the days,
// and begins with the day of the page. Storing the beginnings of pages would not do: every new or deleted record moves
// them all. Every other filter leaves so few rows that they are counted and skipped one by one.
//
// Decisions where the contract is silent: a page beyond the last is 200 with no data, its `previous_page` the
// last page that exists and its `next_page` null; an empty list has 0 pages.

import { LISTS, type List } from './counts.ts';
import type { ReadRows } from './data.ts';
import type { Paging } from './query-parameters.ts';

export interface RowQuery {
  readonly list: List;
  /** Empty: any state. */
  readonly states: readonly string[];
  /** Columns of the list that must have that value. */
  readonly filters: readonly (readonly [column: string, value: string])[];
  /** The expression that builds one row's JSON, over the aliases `t` and those of `joins`. */
  readonly json: string;
  readonly joins: string;
}

export type ReadListPage = (query: RowQuery, paging: Paging) => Promise<PageOfRows>;

/** Newest first; rows of one `created_at` are in the order of their ids, so that the order never changes. */
export function makeReadListPage(readRows: ReadRows, s: string): ReadListPage {
  return async (query, paging) => {
    const { text, values } = pageStatement(s, query, paging);
    const [row] = await readRows<{ total: string; count: number; data: string }>(text, values);
    if (row === undefined) throw new Error('a select without a from clause returned no row');
    return { totalCount: Number(row.total), count: row.count, dataJson: row.data };
  };
}

export interface PageOfRows {
  readonly totalCount: number;
  readonly count: number;
  /** The rows as the text of a JSON array, as the database built it. */
  readonly dataJson: string;
}

/** Returns the text of the whole response body. Source: contract, Pagination envelope. */
export function wrapInEnvelope(paging: Paging, rows: PageOfRows): string {
  const totalPages = Math.ceil(rows.totalCount / paging.limit);
  const previousPage = Math.min(paging.page - 1, totalPages);
  const pagination = {
    previous_page: previousPage >= 1 ? previousPage : null,
    current_page: paging.page,
    next_page: paging.page < totalPages ? paging.page + 1 : null,
    count: rows.count,
    limit: paging.limit,
    total_pages: totalPages,
    total_count: rows.totalCount,
  };
  return `{"pagination":${JSON.stringify(pagination)},"data":${rows.dataJson}}`;
}

function pageStatement(s: string, query: RowQuery, paging: Paging) {
  const { list, states, filters } = query;
  const values: unknown[] = [paging.limit, (paging.page - 1) * paging.limit];
  const conditions = filters.map(([column, value]) => `t.${column} = $${values.push(value)}`);
  // One state is compared by itself: Postgres then reads the index in the order of the list.
  const [state] = states;
  const inStates =
    state === undefined
      ? null
      : states.length === 1
        ? `= $${values.push(state)}`
        : `= any($${values.push(states)})`;
  if (inStates !== null) conditions.push(`t.${LISTS[list]} ${inStates}`);

  const isCountedByDay = filters.length === 0;
  if (isCountedByDay) conditions.push(`t.created_at < (select before from start)`);
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const days = `
    days as materialized (
      select day, sum(records) as records, sum(sum(records)) over (order by day desc) - sum(records) as newer
        from ${s}.list_days where list = '${list}' ${inStates === null ? '' : `and state ${inStates}`} group by day
    ),
    start as materialized (
      select (day + 1)::timestamp at time zone 'UTC' as before, newer
        from days where newer <= $2 order by day limit 1
    ),`;
  return {
    values,
    text: `with ${isCountedByDay ? days : ''}
      page as materialized (
        select t.* from ${s}.${list} t ${where}
         order by t.created_at desc, t.id desc
         limit $1 offset $2::bigint ${isCountedByDay ? '- (select newer from start)::bigint' : ''}
      )
      select ${isCountedByDay ? '(select coalesce(sum(records), 0) from days)' : `(select count(*) from ${s}.${list} t ${where})`}::text as total,
             (select count(*)::integer from page) as count,
             (select coalesce(json_agg(${query.json} order by t.created_at desc, t.id desc), '[]')
                from page t ${query.joins})::text as data`,
  };
}
