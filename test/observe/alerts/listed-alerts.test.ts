// Alerts of several programs in one database: one cause is one message, and a program costs one transaction a round.

import pg from 'pg';
import { expect, test } from 'vitest';
import { transact } from '../../../src/db/transact.ts';
import { claimNotices, type DueNotice, readPending } from '../../../src/observe/alerts/outbox.ts';
import { ALERT_TIMINGS } from '../../../src/observe/alerts/timings.ts';
import { makeWebhook } from '../../../src/observe/alerts/webhook.ts';
import { createListed, type ListedPrograms, watchListed } from '../listed.ts';
import { type Receiver, startReceiver } from './receivers.ts';

const webhook = ({ url }: { url: string }) => makeWebhook({ url, proxy: null });
const firstLines = ({ texts }: Receiver) => texts().map((text) => text.split('\n')[0]);
const REFUSED = 'the API refuses the secret, and all workers are paused';

async function refuse({ run }: ListedPrograms, names: readonly string[], isRefused = true): Promise<void> {
  const [at, code] = isRefused ? ['now()', `'API_UNAUTHORIZED'`] : ['null', 'null'];
  for (const name of names) {
    await run(name, `update worker_state set refused_at = ${at}, refused_code = ${code}`);
  }
}

/** Returns the states of the messages of each program. */
async function readStates({ database, programs }: ListedPrograms): Promise<Record<string, string>> {
  const states = programs.map(async ({ name, mirrorSchema }) => {
    const { rows } = await database.pool.query<{ one: string }>(
      `select concat_ws(' ', kind, state, attempts) as one from ${mirrorSchema}.alert_notices order by id`,
    );
    return [name, rows.map(({ one }) => one).join(', ')];
  });
  return Object.fromEntries(await Promise.all(states));
}

test('one cause in several programs is one message when it is wrong, and one when it is well, of two workers', async () => {
  const listed = await createListed('acme', 'beta', 'zeta');
  const receiver = await startReceiver();
  await refuse(listed, ['acme', 'zeta']);
  await listed.run(
    'beta',
    `insert into alerts (code, what, fix, opened_at) values ('of_later', 'is odd', 'affiliate-mirror x', now())`,
  );
  for (let workers = 0; workers < 2; workers += 1) watchListed(listed, [webhook(receiver)]);
  await expect
    .poll(() => firstLines(receiver).toSorted())
    .toEqual([`affiliate-mirror: acme, zeta: ${REFUSED}`, 'affiliate-mirror: beta: is odd']);
  expect(receiver.texts().find((text) => text.includes('odd'))).toContain(
    '`affiliate-mirror x --program beta`',
  );
  await expect
    .poll(() => readStates(listed))
    .toEqual({ acme: 'opened sent 1', beta: 'opened sent 1', zeta: 'opened sent 1' });

  await refuse(listed, ['acme', 'zeta'], false);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(2);
  const all = {
    acme: 'opened sent 1, resolved sent 1',
    beta: 'opened sent 1',
    zeta: 'opened sent 1, resolved sent 1',
  };
  await expect.poll(() => readStates(listed)).toEqual(all);
  expect(firstLines(receiver).slice(2).join()).toMatch(/Resolved: (acme|zeta)/);
});

test('messages of a worker that died with its claim are one message again, with its key and without newer ones', async () => {
  const listed = await createListed('acme', 'beta', 'zeta');
  const receiver = await startReceiver();
  await refuse(listed, ['acme', 'zeta']);
  receiver.answer = () => ({ status: 503 });
  const first = watchListed(listed, [webhook(receiver)]);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await first.stop();
  const key = receiver.received[0]?.headers['idempotency-key'];
  // The worker claims them, and dies: whether the receiver has taken the message is not known.
  await Promise.all(
    listed.programs.map(({ mirrorSchema }) =>
      listed.database.pool.query(
        `update ${mirrorSchema}.alert_notices set next_attempt_at = date_trunc('minute', now())`,
      ),
    ),
  );
  expect(await claimAll(listed)).toBe(2);
  await refuse(listed, ['beta']);
  receiver.answer = () => ({ status: 200 });
  for (const { mirrorSchema } of listed.programs) {
    // As time passes, for all alike.
    await listed.database.pool.query(
      `update ${mirrorSchema}.alert_notices set claimed_until = claimed_until - interval '1 hour'`,
    );
  }
  watchListed(listed, [webhook(receiver)]);
  await expect
    .poll(() => firstLines(receiver).toSorted())
    .toEqual([`affiliate-mirror: acme, zeta: ${REFUSED}`, `affiliate-mirror: beta: ${REFUSED}`]);
  const keys = receiver.received.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(2);
  expect(keys.filter((one) => one === key).length).toBe(keys.length - 1);
});

async function claimAll({ programs }: ListedPrograms): Promise<number> {
  const due: DueNotice[] = [];
  for (const program of programs) {
    const pending = await transact(program.db, (trx) => readPending(trx, ['webhook']));
    due.push(...pending.map((notice) => ({ ...notice, program })));
  }
  return (await claimNotices(due, ALERT_TIMINGS)).length;
}

test('a program at rest costs one transaction a round', async () => {
  const listed = await createListed('acme', 'beta');
  const watch = watchListed(listed, []);
  const { db } = listed.programs[0] as (typeof listed.programs)[0];
  // The first rounds measure the tables.
  await expect
    .poll(() => listed.programs.map((program) => watch.figures.get(program.db).figures?.growth ?? null))
    .not.toContain(null);
  const before = listed.transactions();
  let rounds = 0;
  let last = watch.figures.get(db).figures;
  while (rounds < 10) {
    await expect.poll(() => watch.figures.get(db).figures).not.toBe(last);
    last = watch.figures.get(db).figures;
    rounds += 1;
  }
  await watch.stop();
  // A round may have begun before the first, and ended after the last.
  expect(listed.transactions() - before).toBeLessThanOrEqual(2 * (rounds + 1));
  expect(watch.warnings).toEqual([]);
});

test('a program of which a user has locked a table holds up no alert of another', async () => {
  const listed = await createListed('acme', 'beta');
  const receiver = await startReceiver();
  const analyst = new pg.Client({ connectionString: listed.database.url });
  await analyst.connect();
  try {
    await analyst.query('begin');
    await analyst.query('lock table mirror_acme.alert_watch, mirror_acme.sync_runs');
    await refuse(listed, ['beta']);
    const watch = watchListed(listed, [webhook(receiver)]);
    await expect.poll(() => firstLines(receiver)).toEqual([`affiliate-mirror: beta: ${REFUSED}`]);
    const [acme] = listed.programs;
    expect(acme && watch.figures.get(acme.db).figures).toBe(null);
    await analyst.query('rollback');
    await expect.poll(() => acme && watch.figures.get(acme.db).figures).not.toBe(null);
  } finally {
    await analyst.end();
  }
});
