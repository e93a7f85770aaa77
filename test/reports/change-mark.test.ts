// An open page reads itself anew where the mark is another one: after whatever the pages show has changed.

import { expect, test } from 'vitest';
import { readChangeMark } from '../../src/reports/read-change-mark.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();

const CHANGES: Readonly<Record<string, string>> = {
  'a run that begins': `insert into sync_runs (resource, mode) values ('referrals', 'full')`,
  'its progress': `update sync_runs set heartbeat_at = clock_timestamp()`,
  'an answer that is late': `update sync_runs set unanswered_since = clock_timestamp(), unanswered_attempt = 1`,
  'its retry': `update sync_runs set unanswered_attempt = 2`,
  'the duration of that': `update sync_runs set unanswered_since = clock_timestamp() - interval '1 minute'`,
  'its end': `update sync_runs set state = 'failed', finished_at = clock_timestamp(), unanswered_since = null`,
  'a request': `insert into commission_updates (commission_id, action) values (gen_random_uuid()::text, 'unpay')`,
  'its end without an attempt': `update commission_updates set state = 'cancelled', outcome = 'so', finished_at = now()`,
  'an attempt': `insert into commission_update_attempts (update_id, method, sent_at) values (1, 'GET', now())`,
  'a pause': `update request_budget set paused_until = now()`,
  'a secret that is refused': `update worker_state set refused_at = now()`,
  'a deletion that is held back': `insert into held_back_deletions (resource, record_id, run_id) values ('referrals', 'r', 1)`,
  'an alert that opens': `insert into alerts (code, what, fix, opened_at) values ('stale', 'w', 'f', now())`,
  'its message': `insert into alert_notices (alert_id, kind, channel) values (1, 'opened', 'email')`,
  'a message that failed': 'update alert_notices set attempts = 1',
  'a message that is sent': `update alert_notices set state = 'sent', settled_at = now()`,
  'an alert that is resolved': 'update alerts set resolved_at = now()',
  'an export': `insert into exports (target, object, kind, rows, began_at) values ('t', 'o', 'whole', 1, now())`,
  'books that were compared': `insert into books_comparisons (books, compared, differing) values ('file', 1, 1)`,
  'a difference that is accepted': `insert into books_differences (books, commission_id, difference, accepted_at) values ('file', 'c', 'd', now())`,
};

test.each(Object.entries(CHANGES))('%s changes the mark', async (_what, change) => {
  const { db } = database;
  const before = await readChangeMark(db);
  expect(await readChangeMark(db)).toBe(before);
  await database.pool.query(change);
  expect(await readChangeMark(db)).not.toBe(before);
});
