// The pagination envelope around every list.
//
// Decisions where the contract is silent: a page beyond the last is 200 with no data, its `previous_page` the
// last page that exists and its `next_page` null; an empty list has 0 pages.

import type { Paging } from './query-parameters.ts';

export interface PageOfRows {
  readonly totalCount: number;
  /** How many rows the page holds. */
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
