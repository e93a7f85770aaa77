// Reads one page of a list in one statement, so that the rows and the total are of one moment. Counts no more often
// than something was written.

import type pg from 'pg';
import type { PageOfRows } from './envelope.ts';
import type { Paging } from './query-parameters.ts';

export interface ListQuery {
  readonly table: 'affiliates' | 'referrals';
  /** Conditions over the alias `t`, with `$1`, `$2` … for `values`. */
  readonly conditions: readonly string[];
  readonly values: readonly unknown[];
  /** The expression that builds one row's JSON, over the aliases `t` and those of `joins`. */
  readonly json: string;
  readonly joins: string;
}

export type ReadListPage = (query: ListQuery, paging: Paging) => Promise<PageOfRows>;

// Filters seen since the last write; a client that asks for each affiliate in turn must not fill the memory.
const REMEMBERED_TOTALS = 1_000;

/**
 * Returns the reader of pages. Newest first; rows of one `created_at` are in the order of their ids, so that the order
 * never changes.
 */
export function makeReadListPage(pool: pg.Pool, s: string): ReadListPage {
  // Counting 100,000 rows costs more than reading a page of them, so a total is kept until the revision that
  // every write raises has moved. The statement itself compares, or a total could belong to another moment.
  const totals = new Map<string, { revision: string; total: string }>();

  return async (query, paging) => {
    const where = query.conditions.length === 0 ? '' : `where ${query.conditions.join(' and ')}`;
    const key = JSON.stringify([query.table, query.conditions, query.values]);
    const known = totals.get(key);
    const at = query.values.length;
    const result = await pool.query<{ revision: string; total: string; count: number; data: string }>(
      `with page as materialized (
         select t.id, t.created_at from ${s}.${query.table} t ${where}
          order by t.created_at desc, t.id desc limit $${at + 1} offset $${at + 2}
       )
       select p.revision::text as revision,
              case when p.revision = $${at + 3}::bigint then $${at + 4}::bigint
                   else (select count(*) from ${s}.${query.table} t ${where}) end::text as total,
              (select count(*)::integer from page) as count,
              (select coalesce(json_agg(${query.json} order by page.created_at desc, page.id desc), '[]')
                 from page join ${s}.${query.table} t on t.id = page.id ${query.joins})::text as data
         from ${s}.sandbox_program p`,
      [
        ...query.values,
        paging.limit,
        (paging.page - 1) * paging.limit,
        known?.revision ?? null,
        known?.total ?? null,
      ],
    );
    const [row] = result.rows;
    if (row === undefined) throw new Error(`${s}.sandbox_program is empty: the sandbox was dropped`);
    if (totals.size >= REMEMBERED_TOTALS) totals.clear();
    totals.set(key, { revision: row.revision, total: row.total });
    return { totalCount: Number(row.total), count: row.count, dataJson: row.data };
  };
}
