// The envelope around every list. Source: contract, Resources and their fields, Pagination envelope.

import { z } from 'zod';

const count = z.int().nonnegative();
const pageNumber = z.int().positive();

/** Records stay unchecked here: one that does not fit must not cost the others of its page. */
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

/** Largest page that the API serves. Source: contract, Limits. */
export const MAXIMUM_LIMIT = 100;
