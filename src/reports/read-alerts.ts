// The alerts, and what became of their messages.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import { mirrorTable, type Reader, runShown, type Shown } from './shown-query.ts';

export interface AlertStatus {
  readonly id: number;
  /** A concern's code, or queue_away. */
  readonly code: string;
  readonly resource: string | null;
  readonly what: string;
  readonly fix: string;
  readonly error_code: string | null;
  /** Since when it was wrong, as far as that is known. */
  readonly since: Timestamp;
  readonly opened_at: Timestamp;
  /** Null while it is open. */
  readonly resolved_at: Timestamp | null;
  readonly notices: readonly NoticeStatus[];
}

export interface NoticeStatus {
  readonly kind: 'opened' | 'resolved';
  readonly channel: 'webhook' | 'email';
  readonly state: 'pending' | 'sent' | 'given_up' | 'skipped';
  readonly attempts: number;
  /** Why the last attempt failed; null where none did, or a later one did not. */
  readonly last_error_code: string | null;
}

/** Returns the open alerts, then the newest that are resolved, at most `resolved` of them. */
export async function readAlerts(reader: Reader, resolved: number): Promise<Shown<AlertStatus>> {
  const alerts = mirrorTable(reader, 'alerts');
  return await runShown(
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
