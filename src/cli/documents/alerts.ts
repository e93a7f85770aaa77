// The document of `alerts list --json`.

import { z } from 'zod';
import { count, resource, text, timestamp } from './fields.ts';

const notice = z.object({
  kind: z.enum(['opened', 'resolved']),
  channel: z.enum(['webhook', 'email']),
  state: z
    .enum(['pending', 'sent', 'given_up', 'skipped'])
    .describe('skipped: of no use any more when its turn came'),
  attempts: count('how often a worker set out to send it'),
  last_error_code: text('stable code of why the last attempt failed').nullable(),
});

const alert = z.object({
  id: count('number of the alert'),
  code: text('stable name of the cause: that of a concern, or queue_away'),
  resource: resource.nullable(),
  what: text('what was wrong when it opened'),
  fix: text('the command to run, which fixes it or says more'),
  error_code: text('stable code of the error behind it').nullable(),
  since: timestamp('since when it was wrong, as far as that is known'),
  opened_at: timestamp('when it became an alert'),
  resolved_at: timestamp('when it was well again; null while it is open').nullable(),
  notices: z.array(notice).readonly().describe('its messages'),
});

export const alertsDocument = z
  .object({ alerts: z.array(alert).readonly().describe('the open ones first, then the newest') })
  .meta({ title: 'affiliate-mirror alerts list --json' });

export type AlertsDocument = z.infer<typeof alertsDocument>;
