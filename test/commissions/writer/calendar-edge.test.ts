// Payments at the calendar's edge: refused where they are asked for, by the database's own check, and by the sandbox.

import { expect, test } from 'vitest';
import { FIRST_TIMESTAMP, LAST_TIMESTAMP } from '../../../src/contract/timestamp.ts';
import { runCli } from '../../support/run-cli.ts';
import { SECRET, useWriter } from './start-writer.ts';

const given = useWriter({ affiliates: 5, referrals: 200 });
const BEYOND = '9999-12-31T23:59:59-05:00';

test('commissions pay and due end with exit code 2 and a message', async () => {
  const { database, sandbox, fresh } = given();
  const { id } = await fresh();
  for (const action of ['pay', 'due']) {
    const { code, stderr } = await runCli(['commissions', action, id, '--at', BEYOND], {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      DATABASE_URL: database.url,
    });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(`"${BEYOND}" is not between ${FIRST_TIMESTAMP} and ${LAST_TIMESTAMP}`);
  }
});

test('the bounds of the table are those of the code', async () => {
  const { database, freshMany } = given();
  const [first, second, third, fourth] = await freshMany(4);
  const ask = (id: string | undefined, paidAt: string) =>
    database.pool.query(
      `insert into commission_updates (commission_id, action, paid_at) values ($1, 'pay', $2)`,
      [id, paidAt],
    );
  await ask(first?.id, FIRST_TIMESTAMP);
  await ask(second?.id, LAST_TIMESTAMP);
  await expect(ask(third?.id, '0001-12-31T23:59:59.999999Z BC')).rejects.toThrow(
    'beyond the years 1 to 9999',
  );
  await expect(ask(fourth?.id, '10000-01-01T00:00:00Z')).rejects.toThrow('beyond the years 1 to 9999');
  await expect(ask(fourth?.id, 'infinity')).rejects.toThrow('beyond the years 1 to 9999');
});

test('a payment at either end of the calendar is applied', async () => {
  const { freshMany, ask, drain, row } = given();
  const [first, second] = await freshMany(2);
  const asked = await ask(
    { commission_id: first?.id ?? '', action: 'pay', paid_at: FIRST_TIMESTAMP },
    { commission_id: second?.id ?? '', action: 'pay', paid_at: '9999-12-31T23:59:59Z' },
  );
  await drain();
  for (const { id } of asked) expect(await row(id)).toMatchObject({ state: 'applied' });
});

test('the sandbox answers 422 to a timestamp beyond the calendar, and keeps what it had', async () => {
  const { sandbox, fresh, program } = given();
  const before = await fresh();
  for (const form of [`paid_at=${encodeURIComponent(BEYOND)}`, 'due_at=0001-01-01T00%3A00%3A00%2B05%3A00']) {
    const answer = await fetch(`${sandbox.url}/v1/commissions/${before.id}`, {
      method: 'PUT',
      headers: {
        authorization: `Basic ${Buffer.from(`${SECRET}:`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: form,
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      details: [expect.stringMatching(/is not an ISO 8601 time/)],
    });
  }
  expect(await program(before.id)).toEqual(before);
});
