// The document of `status --json`: what is wrong, and every figure that it follows from.

import { z } from 'zod';
import { yesNo } from '../../reports/fields.ts';
import { concern } from '../../reports/find-concerns.ts';
import { growth } from '../../reports/read-growth.ts';
import { mirrorStatus } from '../../reports/read-status.ts';

export const statusDocument = z
  .object({
    is_well: yesNo('there is no concern'),
    concerns: z.array(concern).readonly().describe('what is wrong, the most serious first'),
    ...mirrorStatus.shape,
    growth: growth.describe('how large the database is, and how fast it grows'),
  })
  .meta({ title: 'affiliate-mirror status --json' });

export type StatusDocument = z.infer<typeof statusDocument>;
