// The link: an affiliate's tracked address. Source: contract, Resources and their fields, Link.

import type { z } from 'zod';
import { identifier, integer, recordSchema, text } from './fields.ts';

// The contract gives a link no times of its own.
export const linkSchema = recordSchema(
  { id: identifier },
  { url: text, token: text, visitors: integer, leads: integer, conversions: integer },
);

export type Link = z.infer<typeof linkSchema>;
