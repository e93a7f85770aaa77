// Records that the contract allows and the database refuses, as with what an administrator added to a table: each is a
// rejected record, under any SQLSTATE, and holds up no other.

import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { makeTreatment } from '../../src/mirror/people/make-treatment.ts';
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

const lastRun = async () =>
  (await query('select state, error_code, error from mirror.sync_runs order by id desc limit 1'))[0];

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

test('a nested record is rejected by itself', async () => {
  const id = await someId('affiliates');
  await refuse('affiliates', `new.id = '${id}'`, `errcode = '23514'`);
  const summary = await given().sync('referrals');
  expect(summary).toMatchObject({ verified: true, rows_inserted: 120, rows_rejected: 0 });
  expect(await rejections(summary.id)).toMatchObject([{ resource: 'affiliates', record_id: id }]);
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
  const OWN_KEY = `errcode = '23505', constraint = 'referrals_pkey'`;

  test.each([
    ['a missing table', `errcode = '42P01'`, 'DB_REFUSED'],
    ['a function that finds no row', `errcode = 'P0002'`, 'DB_REFUSED'],
    ['a key of ours, as where a sequence lags behind', OWN_KEY, 'DB_REFUSED'],
    ['a time-out', `errcode = '57014'`, 'DB_REFUSED'],
    ['a full disk', `errcode = '53100'`, 'DB_FULL'],
    ['a server that takes no writes', `errcode = '25006'`, 'DB_ACCESS_REFUSED'],
    ['a server that shuts down', `errcode = '57P01'`, 'DB_UNREACHABLE'],
  ])('%s', async (_what, options, error_code) => {
    await refuse('referrals', 'true', options);
    await expect(given().sync('referrals')).rejects.toThrow();
    expect(await query('select from mirror.rejected_records')).toEqual([]);
    expect(await query('select from mirror.referrals')).toEqual([]);
    expect(await lastRun()).toMatchObject({ state: 'failed', error_code });
  });

  test('a constraint that an administrator added to a table of ours is named', async () => {
    await query('alter table mirror.seen_rows add constraint none_seen check (run_id is null)');
    added.push('alter table mirror.seen_rows drop constraint none_seen');
    await expect(given().sync('referrals')).rejects.toThrow();
    expect(await lastRun()).toEqual({
      state: 'failed',
      error_code: 'DB_REFUSED',
      error: expect.stringMatching(/\(none_seen, SQLSTATE 23514\): drop the constraint, trigger or index/),
    });
  });

  test('a bug', async () => {
    const { db, api } = given();
    const onProgress = () => {
      throw new TypeError('of ours');
    };
    const syncing = runSync(
      { api, db, log: pino({ level: 'silent' }), onProgress },
      { resource: 'referrals', mode: 'full', acceptDeletes: false },
    );
    await expect(syncing).rejects.toThrow(new TypeError('of ours'));
    expect(await lastRun()).toMatchObject({ state: 'failed', error_code: 'UNFORESEEN' });
  });

  test('an error before the first request', async () => {
    await query('alter table mirror.referrals rename to away');
    added.push('alter table mirror.away rename to referrals');
    await expect(given().sync('referrals')).rejects.toThrow();
    expect(await lastRun()).toMatchObject({ state: 'failed', error_code: 'DB_REFUSED' });
  });
});
