// The body of every error. Source: contract, Errors.

import { z } from 'zod';

/** `details` is present on 422 only: one string per validation problem. */
export const errorBodySchema = z.looseObject({
  error: z.string(),
  details: z.array(z.string()).optional(),
});

export type ErrorBody = z.infer<typeof errorBodySchema>;
