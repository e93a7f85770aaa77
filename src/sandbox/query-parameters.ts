// Reads parameters from a query string or a form body: array form, single form, page and limit.
//
// Decisions where the contract is silent:
// - A parameter that the endpoint does not have (per_page, say) is ignored; so is an unknown value of `expand`.
// - A blank filter counts as not sent. A filter value that no row can have (a malformed UUID) finds nothing.
// - A single-valued parameter sent twice takes its last value; sent as `name[]`, it is ignored. An array
//   parameter takes every value sent, in either form, also the numbered one of some HTTP libraries (`name[0]=a`).
// - `limit` above 100 is cut to 100; below 1 or not a whole number, it is 25. `page` below 1 or not a whole
//   number is 1. `pagination.limit` and `pagination.current_page` say what was used.

import { MAXIMUM_LIMIT } from '../contract/answer-bodies.ts';

/** Source: contract, Limits. */
export const DEFAULT_LIMIT = 25;

// Far beyond any list, and small enough for offsets to stay exact.
const MAXIMUM_PAGE = 1_000_000_000;

export interface Paging {
  readonly page: number;
  readonly limit: number;
}

export function readQuery(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return readForm(mark === -1 ? '' : url.slice(mark + 1));
}

export function readForm(text: string): URLSearchParams {
  // Postgres holds no NUL in text: a value with one becomes a value that no row has.
  return new URLSearchParams(text.replaceAll('%00', '%EF%BF%BD'));
}

/** Returns the last value of that name. */
export function readSingle(parameters: URLSearchParams, name: string): string | undefined {
  return parameters.getAll(name).at(-1);
}

/** Returns the single-valued filters that were sent and are not blank, each as its column and value. */
export function readFilters(
  parameters: URLSearchParams,
  columns: Readonly<Record<string, string>>,
): [column: string, value: string][] {
  return Object.entries(columns).flatMap(([name, column]): [string, string][] => {
    const value = readSingle(parameters, name);
    return value === undefined || value.trim() === '' ? [] : [[column, value]];
  });
}

/** Returns every value sent under `name`, `name[]` or `name[0]`, `name[1]` … that is not blank. */
export function readArray(parameters: URLSearchParams, name: string): string[] {
  return [...parameters]
    .filter(([key, value]) => key.replace(/\[\d*\]$/, '') === name && value.trim() !== '')
    .map(([, value]) => value);
}

export function readPaging(parameters: URLSearchParams): Paging {
  const page = readPositive(readSingle(parameters, 'page')) ?? 1;
  const limit = readPositive(readSingle(parameters, 'limit')) ?? DEFAULT_LIMIT;
  return { page: Math.min(page, MAXIMUM_PAGE), limit: Math.min(limit, MAXIMUM_LIMIT) };
}

function readPositive(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) && Number(text) >= 1 ? Number(text) : undefined;
}
