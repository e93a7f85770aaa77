// Records that the contract allows and the database refuses, as with what an administrator added to a table: each is a
// rejected record, under any SQLSTATE, and holds up no other.

import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 6, referrals: 120 });
const query = async (text: string, values: unknown[] = []) =>
  (await given().database.pool.query(text, values)).rows;

/** What takes away what the administrator added. */
const added: string[] = [];

afterEach(async () => {
  for (const statement of added.splice(0)) await query(statement);
  for (const table of ['referrals', 'affiliates', 'links', 'rejected_records']) {
    await query(`delete from mirror.${table}`);
  }
  await query(`update mirror.sync_runs set state = 'failed' where state = 'running'`);
});

/** Has a trigger refuse the rows of the table for which the condition holds. */
async function refuse(table: string, condition: string, options: string): Promise<void> {
  await query(`create function refuse_row() returns trigger language plpgsql as
    $$ begin raise exception using ${options}, message = 'refused ' || coalesce(new.id, ''); end $$`);
  await query(
    `create trigger refuse before insert or update on mirror.${table} for each row when (${condition}) execute function refuse_row()`,
  );
  added.push('drop function refuse_row() cascade');
}

const rejections = (runId: number | null) =>
  query(
    'select resource, record_id, reason, payload from mirror.rejected_records where run_id = $1 order by resource',
    [runId],
  );

async function someId(table: 'referrals' | 'affiliates'): Promise<string> {
  const [row] = await query(`select id from sandbox.${table} order by md5(id::text) limit 1`);
  return String(row?.['id']);
}

test.each(['22P05', '22001', '23514', '54000', 'P0001', '38000', 'MY001'])(
  'a record that is refused with SQLSTATE %s is one rejected record, and the rest lands',
  async (code) => {
    const id = await someId('referrals');
    await refuse('referrals', `new.id = '${id}'`, `errcode = '${code}'`);
    const summary = await given().sync('referrals');
    expect(summary).toMatchObject({
      state: 'succeeded',
      verified: true,
      rows_inserted: 119,
      rows_rejected: 1,
    });
    expect(await rejections(summary.id)).toEqual([
      {
        resource: 'referrals',
        record_id: id,
        reason: expect.stringMatching(/^the database refused it \(.*SQLSTATE /),
        payload: expect.objectContaining({ id, visits: expect.any(Number) }),
      },
    ]);
  },
);

test('its row keeps its last good content, and once nothing refuses it, it is stored', async () => {
  await given().sync('referrals');
  const id = await someId('referrals');
  await query(`update mirror.referrals set visits = visits + 1 where id = $1`, [id]);
  await refuse('referrals', `new.id = '${id}'`, `errcode = 'P0001'`);
  const summary = await given().sync('referrals');
  expect(summary).toMatchObject({ verified: true, rows_deleted: 0, rows_unchanged: 119, rows_rejected: 1 });
  expect(await query('select from mirror.referrals where _deleted_at is null')).toHaveLength(120);
  await query(added.pop() ?? '');
  expect(await given().sync('referrals')).toMatchObject({ rows_updated: 1, rows_rejected: 0 });
});

test('a nested record is rejected by itself', async () => {
  const id = await someId('affiliates');
  await refuse('affiliates', `new.id = '${id}'`, `errcode = '23514'`);
  const summary = await given().sync('referrals');
  expect(summary).toMatchObject({ verified: true, rows_inserted: 120, rows_rejected: 0 });
  expect(await rejections(summary.id)).toMatchObject([{ resource: 'affiliates', record_id: id }]);
});

test('a text that is too long for an index which an administrator made is a rejected record', async () => {
  const id = await someId('referrals');
  const long = randomBytes(8000).toString('base64');
  const [before] = await query('select customer_name from sandbox.referrals where id = $1', [id]);
  await query('update sandbox.referrals set customer_name = $2 where id = $1', [id, long]);
  await query('create index names on mirror.referrals (customer_name)');
  added.push('drop index mirror.names');
  const summary = await given().sync('referrals');
  await query('update sandbox.referrals set customer_name = $2 where id = $1', [
    id,
    before?.['customer_name'],
  ]);
  expect(summary).toMatchObject({ verified: true, rows_inserted: 119, rows_rejected: 1 });
  expect(await rejections(summary.id)).toMatchObject([
    { record_id: id, reason: expect.stringContaining('SQLSTATE 54000'), payload: { customer_name: long } },
  ]);
});

test('where personal data are not kept, the payload quotes none', async () => {
  const { db, api } = given();
  const treatment = makeTreatment({ mode: 'omit', key: null });
  await query(`update mirror.personal_data set mode = 'omit'`);
  added.push(`update mirror.personal_data set mode = 'plain'`);
  const id = await someId('referrals');
  await refuse('referrals', `new.id = '${id}'`, `errcode = 'P0001'`);
  const summary = await runSync(
    { api, db, log: pino({ level: 'silent' }), treatment },
    { resource: 'referrals', mode: 'full', acceptDeletes: false },
  );
  expect(await rejections(summary.id)).toEqual([
    {
      resource: 'referrals',
      record_id: id,
      reason: 'the database refused it (SQLSTATE P0001)',
      payload: { id, left_out: expect.any(String) },
    },
  ]);
});

describe('What is no fault of a record fails the run, and rejects nothing', () => {
  test.each([
    ['a missing table', `errcode = '42P01'`],
    ['a function that finds no row', `errcode = 'P0002'`],
    ['a key of ours, as where a sequence lags behind', `errcode = '23505', constraint = 'referrals_pkey'`],
    ['a full disk', `errcode = '53100'`],
  ])('%s', async (_what, options) => {
    await refuse('referrals', 'true', options);
    await expect(given().sync('referrals')).rejects.toThrow();
    expect(await query('select from mirror.rejected_records')).toEqual([]);
    expect(await query('select from mirror.referrals')).toEqual([]);
  });
});
