// The document of `doctor --json`.

import { z } from 'zod';
import { count, text, yesNo } from '../../reports/fields.ts';

const check = z.object({
  subject: text('what was looked at'),
  state: z.enum(['passed', 'failed', 'not_checked']),
  says: z
    .array(z.string())
    .describe('what was found; each problem and how to fix it; or why it was not checked'),
});

export const doctorDocument = z
  .object({
    is_well: yesNo('no check failed'),
    checks: z.array(check).describe('in the order in which they were made'),
    made: count('checks that were made'),
    failed: count('those of them that failed'),
  })
  .meta({ title: 'affiliate-mirror doctor --json' });

export type DoctorDocument = z.infer<typeof doctorDocument>;
