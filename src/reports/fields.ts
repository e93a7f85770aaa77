// The fields of figures and of the JSON documents of commands: counts, times, names, each with its meaning.

import { z } from 'zod';
import { END_STATES } from '../contract/payment-request.ts';

export const count = (meaning: string) => z.int().nonnegative().describe(meaning);

export const seconds = (meaning: string) => z.number().describe(`${meaning}, in seconds`);

export const bytes = (meaning: string) => z.number().describe(`${meaning}, in bytes`);

/** UTC, as the database writes it. */
export const timestamp = (meaning: string) => z.iso.datetime({ offset: true }).describe(meaning);

export const text = (meaning: string) => z.string().describe(meaning);

export const yesNo = (meaning: string) => z.boolean().describe(meaning);

export const resource = text('affiliates, referrals or another resource of the API');

export const mode = z.enum(['full', 'delta']).describe('full: everything is read; delta: the changes');

/** Of a run. */
export const runState = z.enum(['running', 'succeeded', 'partial', 'failed', 'interrupted', 'skipped']);

/** Of a request for payment. */
export const updateState = z.enum(['pending', ...END_STATES]);

export const stateCounts = z.partialRecord(updateState, z.int());

/** How a field differs from the contract. */
export const driftKind = z.enum(['appeared', 'vanished', 'retyped']);
