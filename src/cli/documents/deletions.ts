// The documents of `deletions list --json` and `deletions accept --json`.

import { z } from 'zod';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import { count } from '../../reports/fields.ts';
import { heldBack } from '../../reports/read-held-back.ts';

export const heldBackDocument = z
  .object({ held_back: z.array(heldBack).readonly().describe('rows that look deleted and are not marked') })
  .meta({ title: 'affiliate-mirror deletions list --json' });

export type HeldBackDocument = z.infer<typeof heldBackDocument>;

export const acceptedDocument = z
  .object({ resource: z.enum(LISTED_RESOURCES), accepted: count('held-back rows that are accepted now') })
  .meta({ title: 'affiliate-mirror deletions accept --json' });

export type AcceptedDocument = z.infer<typeof acceptedDocument>;
