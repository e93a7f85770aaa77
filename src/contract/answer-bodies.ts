// The bodies of answers: the envelope of lists, and errors.
// Source: contract, Pagination envelope; Errors.

import { z } from 'zod';

const count = z.int().nonnegative();
const pageNumber = z.int().positive();

/** Records stay unchecked here: one invalid record must not cost the others of its page. */
export const listEnvelopeSchema = z.looseObject({
  pagination: z.looseObject({
    previous_page: pageNumber.nullable(),
    current_page: pageNumber,
    next_page: pageNumber.nullable(),
    count,
    limit: z.int().positive(),
    total_pages: count,
    total_count: count,
  }),
  data: z.array(z.unknown()),
});

export type ListEnvelope = z.infer<typeof listEnvelopeSchema>;

/** Returns the envelope of a list that was answered without one: it has a single page. */
export function wholeList(data: readonly unknown[], limit: number) {
  const total = data.length;
  return {
    pagination: {
      previous_page: null,
      current_page: 1,
      next_page: null,
      count: total,
      limit,
      total_pages: 1,
      total_count: total,
    },
    data,
  };
}

/** By the page number and limit of the answer, which may differ from those of the request. */
export function positionOf({ current_page, limit, total_count, next_page }: ListEnvelope['pagination']) {
  return {
    /** Of the page's first record, from 0. */
    start: (current_page - 1) * limit,
    limit,
    total: total_count,
    isLast: next_page === null,
  };
}

/** Largest page that the API serves. Source: contract, Limits. */
export const MAXIMUM_LIMIT = 100;

/** `details` is present on 422 only: one string per validation problem. */
export const errorBodySchema = z.looseObject({
  error: z.string(),
  details: z.array(z.string()).optional(),
});
