// What the JSON documents that commands print have in common: counts, times, names, each with its meaning.

import { z } from 'zod';

export const count = (meaning: string) => z.int().nonnegative().describe(meaning);

export const seconds = (meaning: string) => z.number().describe(`${meaning}, in seconds`);

/** UTC, as the database writes it. */
export const timestamp = (meaning: string) => z.iso.datetime({ offset: true }).describe(meaning);

export const text = (meaning: string) => z.string().describe(meaning);

export const yesNo = (meaning: string) => z.boolean().describe(meaning);

export const resource = text('affiliates, referrals or another resource of the program');

export const mode = z.enum(['full', 'delta']).describe('full: everything is read; delta: what changed');
