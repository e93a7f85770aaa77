// The documents of `deletions list --json` and `deletions accept --json`.

import { z } from 'zod';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import { count, text, timestamp } from './fields.ts';

const resource = z.enum(LISTED_RESOURCES);

const row = z.object({
  resource,
  record_id: text('identifier of the row'),
  affiliate_id: text(
    'the affiliate of a referral or a commission; null for an affiliate, and where it is not known',
  ).nullable(),
  created_at: timestamp('when the record was created').nullable(),
  run_id: count('the last run that did not meet it'),
  held_back_at: timestamp('since when it is held back'),
  accepted_at: timestamp('when somebody accepted that it is gone').nullable(),
});

export const heldBackDocument = z
  .object({ held_back: z.array(row).readonly().describe('rows that look deleted and are not marked') })
  .meta({ title: 'affiliate-mirror deletions list --json' });

export type HeldBackDocument = z.infer<typeof heldBackDocument>;

export const acceptedDocument = z
  .object({ resource, accepted: count('held-back rows that are accepted now') })
  .meta({ title: 'affiliate-mirror deletions accept --json' });

export type AcceptedDocument = z.infer<typeof acceptedDocument>;
