// A request that is put back while its drain looks for more: that look began before it was due again, and cannot find
// it.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RequestedUpdate } from '../../../src/payments/ask/request-updates.ts';
import { countAsleep, makeAlteredApi, useWriter } from './start-writer.ts';

const writer = useWriter();

/**
 * Has the database answer the look for more only once the given request is put back, where that look began while the
 * request was claimed and found none. The trigger goes with its table.
 */
async function answerLooksLate(id: number): Promise<void> {
  const { pool } = writer().database;
  await pool.query(`
    create function answer_late() returns trigger language plpgsql as $$
    begin
      if exists (select from found) then return null; end if;
      while exists (select from commission_updates where id = ${id} and claimed_by is not null) loop
        perform pg_sleep(0.005);
      end loop;
      return null;
    end $$`);
  await pool.query(`
    create trigger answer_late after update on commission_updates referencing new table as found
    for each statement execute function answer_late()`);
}

test('a drain does not end before a request that was put back while it looked for more', async () => {
  const { freshMany, askToPay, drain, db, database, sandbox, row } = writer();
  const [first, late] = (await freshMany(2)).map(({ id }) => id) as [string, string];
  let isRefused = false;
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (isRefused || !path.endsWith(late)) return body;
    isRefused = true;
    while ((await countAsleep(database.pool)) === 0) await sleep(5);
    return { status: 404, body: '<html><h1>404 Not Found</h1></html>' };
  });
  const asked = await askToPay([first, late].map((id) => ({ id })));
  const [, { id }] = asked as [RequestedUpdate, RequestedUpdate];
  await answerLooksLate(id);

  expect(await drain({ api, concurrency: 2 })).toEqual({ ended: { applied: 2 }, deferred: 1 });
  expect(await row(id)).toMatchObject({ state: 'applied', attempts: 1 });
});
