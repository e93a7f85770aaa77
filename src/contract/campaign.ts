// The campaign: what an affiliate was recruited for. Source: contract, Resources and their fields, Campaign.

import type { z } from 'zod';
import { identity, recordSchema, text } from './fields.ts';

export const campaignSchema = recordSchema(identity, { name: text });

export type Campaign = z.infer<typeof campaignSchema>;
