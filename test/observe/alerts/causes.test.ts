// Everything that can be wrong with a mirror, planted into its tables together with people's names and secrets: one
// message for each cause, with what to run, one more once it is well again, and nothing of anybody in any of them.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { makeDatabase } from '../../../src/db/database.ts';
import { makeEmail } from '../../../src/observe/alerts/email.ts';
import { makeWebhook } from '../../../src/observe/alerts/webhook.ts';
import { noteComparison } from '../../../src/payments/books/books-differences.ts';
import { differing } from '../../payments/books/differing.ts';
import type { TestDatabase } from '../../support/database.ts';
import { startMailServer, startReceiver } from './receivers.ts';
import { createWellMirror, readAlertStates, refuseSecret, startWatcher, waitForLooks } from './watching.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const OTHER_ID = ID.replace('0b', '0c');
const ADA = 'Ada Lovelace <ada@example.com> of 10.1.2.3 with sk_live_TOKEN';
const PERSONAL = /\bada\b|lovelace|10\.1\.2\.3|sk_live|the-password|the-token|postgres:/i;

/** Each cause: what makes it, its message, what to run, and what ends it. */
const FAULTS: Readonly<Record<string, readonly [make: string, says: RegExp, run: string, end: string]>> = {
  secret_refused: [
    `update worker_state set refused_at = now(), refused_code = 'API_UNAUTHORIZED'`,
    /^the API refuses the secret/,
    'affiliate-mirror doctor',
    `update worker_state set refused_at = null, refused_code = null`,
  ],
  'sync_failed affiliates': [
    `insert into sync_runs (resource, mode, state, finished_at, error_code, error)
     values ('affiliates', 'delta', 'failed', now(), 'CONTRACT_VIOLATION', '${ADA}')`,
    /^the last sync of affiliates failed$/,
    'affiliate-mirror sync affiliates',
    `insert into sync_runs (resource, mode, state, verified, finished_at)
     values ('affiliates', 'full', 'succeeded', true, now())`,
  ],
  'sync_unverified referrals': [
    `insert into sync_runs (resource, mode, state, verified, finished_at, error, rows_seen, rows_rejected)
     values ('referrals', 'full', 'partial', false, now(), 'because of ${ADA}', 3, 3)`,
    /^the last sync of referrals ended unverified$/,
    'affiliate-mirror sync referrals',
    `insert into sync_runs (resource, mode, state, verified, finished_at)
     values ('referrals', 'full', 'succeeded', true, now())`,
  ],
  'records_rejected referrals': [
    `select 1`,
    /^3 records of referrals rejected/,
    'affiliate-mirror status drift',
    `select 1`,
  ],
  stale: [
    `update sync_runs set started_at = now() - interval '27 hours' where verified`,
    /^affiliates, referrals: stale/,
    'affiliate-mirror sync',
    `select 1`,
  ],
  payments_failed: [
    `insert into commission_updates (commission_id, action, reason) values ('${ID}', 'unpay', '${ADA}');
     update commission_updates set state = 'failed', outcome = '${ADA}', last_error = '${ADA}', finished_at = now()`,
    /^1 payment request failed$/,
    'affiliate-mirror commissions retry',
    `insert into commission_updates (commission_id, action) values ('${ID}', 'unpay')`,
  ],
  payments_neglected: [
    `insert into commission_updates (commission_id, action, requested_by) values ('${OTHER_ID}', 'unpay', '${ADA}');
     update commission_updates set next_attempt_at = now() - interval '1 hour' where state = 'pending'`,
    /^1 payment request due, and no worker handles them$/,
    'affiliate-mirror work',
    `update commission_updates set state = 'applied', outcome = 'done', finished_at = now() where state = 'pending'`,
  ],
  'deletions_held_back referrals': [
    `insert into held_back_deletions (resource, record_id, run_id)
     select 'referrals', '${ADA}', max(id) from sync_runs where resource = 'referrals'`,
    /^1 deletion of referrals held back/,
    'affiliate-mirror deletions list referrals',
    `delete from held_back_deletions`,
  ],
};

async function runAll(database: TestDatabase, position: 0 | 3): Promise<void> {
  for (const fault of Object.values(FAULTS)) await database.pool.query(fault[position]);
}

// What has to hold for a while has held for a day.
const age = ({ pool }: TestDatabase) =>
  pool.query(`
    update alerts set noticed_at = noticed_at - interval '1 day', well_at = well_at - interval '1 day'
    where resolved_at is null`);

test('each cause is one message with what to run, by either channel, and one when it ends; of nobody a word', async () => {
  const database = await createWellMirror();
  const receiver = await startReceiver();
  const { port, mails } = await startMailServer();
  const smtpUrl = `smtp://mirror%40example.com:the-password@127.0.0.1:${port}`;
  const channels = [
    makeWebhook({ url: receiver.url, proxy: null }),
    makeEmail({ to: ['ops@example.com'], from: 'mirror@example.com', smtpUrl }),
  ];
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) });
  for (let count = 0; count < 2; count += 1) startWatcher(database, { channels, log });
  const db = makeDatabase(database.pool);
  await runAll(database, 0);
  const compared = differing(2);
  const comparison = { books: 'file', since: null, settled: [] } as const;
  await noteComparison(db, { ...comparison, rows: compared });
  await waitForLooks(database);
  await age(database);

  const causes = [...Object.keys(FAULTS), 'books_differ'];
  const states = (state: string) => causes.map((cause) => `${cause} ${state}`).toSorted();
  await expect.poll(async () => (await readAlertStates(database)).toSorted()).toEqual(states('open'));
  await expect.poll(() => receiver.received.length).toBe(causes.length);
  await expect.poll(() => mails.length).toBe(causes.length);
  for (const [cause, [, says, run]] of Object.entries(FAULTS)) {
    const text = receiver.texts().find((one) => one.includes(` (${cause.split(' ')[0]})`)) ?? '';
    expect(text.split('\n')[0]?.replace('affiliate-mirror: ', '')).toMatch(says);
    expect(text).toContain(`\nRun: \`${run}\`\n`);
    expect(text).toMatch(/\nMirror: schema mirror of the database test_\w+\n/);
  }

  await runAll(database, 3);
  await noteComparison(db, { ...comparison, rows: compared.map((row) => ({ ...row, finding: 'match' })) });
  await waitForLooks(database);
  await age(database);
  await expect.poll(async () => (await readAlertStates(database)).toSorted()).toEqual(states('resolved'));
  await expect.poll(() => receiver.received.length).toBe(2 * causes.length);
  await expect.poll(() => mails.length).toBe(2 * causes.length);
  await waitForLooks(database);
  expect(receiver.received).toHaveLength(2 * causes.length);

  const { rows } = await database.pool.query(`
    select (select jsonb_agg(a) from alerts a) as alerts, (select jsonb_agg(n) from alert_notices n) as notices,
      (select jsonb_agg(b) from books_comparisons b) as books`);
  expect(rows[0]?.notices).toHaveLength(4 * causes.length);
  expect(logged).not.toEqual([]);
  for (const said of [
    logged,
    rows,
    receiver.received.map(({ body }) => body),
    mails.map(({ text }) => text),
  ]) {
    expect(JSON.stringify(said)).not.toMatch(PERSONAL);
  }
});

test('an e-mail is a conversation: that it is well again answers that it was not', async () => {
  const database = await createWellMirror();
  const { port, mails } = await startMailServer();
  const smtpUrl = `smtp://mirror%40example.com:the-password@127.0.0.1:${port}`;
  const to = ['ops@example.com', 'finance@example.com'];
  startWatcher(database, { channels: [makeEmail({ to, from: 'mirror@example.com', smtpUrl })] });
  await refuseSecret(database);
  await expect.poll(() => mails.length).toBe(1);
  await refuseSecret(database, false);
  await expect.poll(() => mails.length).toBe(2);
  const [opened, resolved] = mails;
  expect(opened).toMatchObject({ from: 'mirror@example.com', to, user: 'mirror@example.com' });
  const id = /^Message-ID: (<.+@example\.com>)\r$/m.exec(opened?.text ?? '')?.[1];
  expect(id).toBeDefined();
  expect(opened?.text, 'nobody answers that they are away').toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(opened?.text).toMatch(/^Subject: affiliate-mirror: the API refuses the secret/m);
  expect(resolved?.text).toMatch(/^Subject: affiliate-mirror: Resolved: the API refuses/m);
  expect(resolved?.text).toContain(`In-Reply-To: ${id}`);
  expect(resolved?.text).not.toContain(`Message-ID: ${id}`);
});
