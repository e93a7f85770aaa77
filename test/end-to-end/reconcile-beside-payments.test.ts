// What `commissions reconcile --due` finds where payments are made through here while it reads the program.

import { expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

const PAID_AT = '2026-10-01T12:00:00Z';

test('a payment that was made through here meanwhile is no difference, and one made elsewhere is', async () => {
  const program = await createTestDatabase();
  const { pool, url } = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, {
    affiliates: 5,
    referrals: 80,
    optionalLists: ['commissions'],
  });
  const run = (args: readonly string[], limit: string) =>
    runCli(args, {
      AFFILIATE_API_URL: sandbox.url,
      AFFILIATE_API_SECRET: SECRET,
      DATABASE_URL: url,
      API_RATE_LIMIT: limit,
    });
  expect((await run(['sync'], 'none')).code).toBe(0);
  const { rows: due } = await pool.query<{ id: string }>(
    'select commission_id as id from unpaid_commissions where is_payable order by commission_id limit 3',
  );
  const [here = '', elsewhere = '', waiting = ''] = due.map(({ id }) => id);

  // It has read the books, and waits for the permit of its first request.
  const worker = await pool.connect();
  await worker.query('begin; set local idle_in_transaction_session_timeout = 0; lock table request_budget');
  const reconciled = run(['commissions', 'reconcile', '--due', '--json'], '1000/1');
  await expect.poll(() => countWaiting(pool), { timeout: 60_000 }).toBe(1);
  for (const id of [here, elsewhere, waiting]) await sandbox.put(id, `paid_at=${PAID_AT}`);
  await worker.query(`
    insert into commission_updates (commission_id, action, paid_at)
    values ('${here}', 'pay', '${PAID_AT}'), ('${waiting}', 'pay', '${PAID_AT}');
    update commission_updates set state = 'applied', outcome = 'so', finished_at = now() where commission_id = '${here}';
    commit`);
  worker.release();

  const { code, stdout } = await reconciled;
  const { rows } = JSON.parse(stdout) as { rows: { commission_id: string; finding: string }[] };
  const findings = new Map(rows.map(({ commission_id, finding }) => [commission_id, finding]));
  expect([here, elsewhere, waiting].map((id) => findings.get(id))).toEqual([
    'match',
    'not_in_books',
    undefined,
  ]);
  expect(code).toBe(3);
  await sandbox.close();
});
