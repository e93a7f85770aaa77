// The alerts, and the states of their messages.

import { sql } from 'kysely';
import { z } from 'zod';
import { count, resource, text, timestamp } from './fields.ts';
import { type Figure, mirrorTable, type Reader, readFigure } from './figure.ts';

const notice = z.object({
  kind: z.enum(['opened', 'resolved']),
  channel: z.enum(['webhook', 'email']),
  state: z
    .enum(['pending', 'sent', 'given_up', 'skipped'])
    .describe('skipped: needless by the time it was due'),
  attempts: count('how often a worker tried to send it'),
  last_error_code: text('stable code of why the last attempt failed').nullable(),
});

export const alert = z.object({
  id: count('number of the alert'),
  code: text('stable name of the cause: that of a concern, or queue_away'),
  resource: resource.nullable(),
  what: text('the fault when it opened'),
  fix: text('the command to run, which fixes it or says more'),
  error_code: text('stable code of the error behind it').nullable(),
  since: timestamp('since when it was wrong, as far as that is known'),
  opened_at: timestamp('when it became an alert'),
  resolved_at: timestamp('when it was well again; null while it is open').nullable(),
  notices: z.array(notice).readonly().describe('its messages'),
});

export type AlertStatus = z.infer<typeof alert>;
export type NoticeStatus = z.infer<typeof notice>;

/** Returns the open alerts, then the newest that are resolved, at most `resolved` of them. */
export function readAlerts(reader: Reader, resolved: number): Promise<Figure<AlertStatus>> {
  const alerts = mirrorTable(reader, 'alerts');
  return readFigure(
    reader,
    sql<AlertStatus>`
      select id, code, resource, what, fix, error_code, coalesce(since, noticed_at) as since, opened_at, resolved_at,
        coalesce(notices, '[]') as notices
      from (
        (select * from ${alerts} where opened_at is not null and resolved_at is null)
        union all
        (select * from ${alerts} where resolved_at is not null order by resolved_at desc limit ${resolved})
      ) alert
      left join lateral (
        select jsonb_agg(jsonb_build_object('kind', kind, 'channel', channel, 'state', state, 'attempts', attempts,
          'last_error_code', last_error_code) order by notice.id) as notices
        from ${mirrorTable(reader, 'alert_notices')} notice where notice.alert_id = alert.id
      ) notices on true
      order by resolved_at is not null, opened_at desc, id desc`,
  );
}
