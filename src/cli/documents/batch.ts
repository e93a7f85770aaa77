// What documents say about requests for payments: their states, how many are in each, and their batches.

import { z } from 'zod';
import { END_STATES } from '../../commissions/update-request.ts';
import { count, text, timestamp } from './fields.ts';

export const updateState = z.enum(['pending', ...END_STATES]);

export const stateCounts = z.partialRecord(updateState, z.int());

export const batch = z.object({
  batch: text('its name; null: the requests that belong to none').nullable(),
  requests: count('how many'),
  states: stateCounts.describe('how many of them are in each state'),
  requested_by: text('who asked; where several did, one of them and the words "and others"'),
  requested_at: timestamp('when'),
  finished_at: timestamp('when the last of them ended; null while one waits').nullable(),
});
