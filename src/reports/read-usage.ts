// How much of the account's request budget is used, and what holds requests up: the report request_usage. Only reads:
// takes no permit.

import { z } from 'zod';
import { count, timestamp } from './fields.ts';
import { figureOf } from './figure.ts';

export const budget = z.object({
  used_requests: count('requests that count against the limit now'),
  foreign_requests: count('requests that somebody else on the account must have made'),
  limit_requests: count('the limit that the program names, where it is lower than ours').nullable(),
  paused_until: timestamp('nothing is sent before this').nullable(),
  last_throttled_at: timestamp('when the program last answered 429').nullable(),
});

export const worker = z.object({
  secret_refused_since: timestamp(
    'since when all workers pause, as the program refuses the secret',
  ).nullable(),
  program_changed_since: timestamp(
    'since when all workers pause, as the API has none of the records that the mirror has',
  ).nullable(),
});

export type BudgetStatus = z.infer<typeof budget>;

/** One row. */
export const readUsage = figureOf('request_usage', z.object({ ...budget.shape, ...worker.shape }));
