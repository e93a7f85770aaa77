// Records that a program should not send: nested very deep, numbers beyond JavaScript's, moments beyond the calendar,
// the API secret. At most the record itself is rejected; what is stored is exactly what came.

import { pino } from 'pino';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { CUT_OFF } from '../../src/decode/unstorable.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { SECRET } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { deepArrays, deepObjects, piece, withPieces } from '../support/raw-json.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

interface Wire {
  [field: string]: unknown;
}

const given = useSyncing({ affiliates: 6, referrals: 120 });
const log = pino({ level: 'silent' });

/** Syncs from the program, the first record of whose first page was altered. */
async function syncAltered(resource: ListedResource, alter: (record: Wire) => void) {
  const { db, sandbox } = given();
  const proxy = await startAlteringProxy(sandbox.url, (body) => {
    const envelope = JSON.parse(body) as { data: Wire[]; pagination: { current_page: number } };
    const [first] = envelope.data;
    if (first !== undefined && envelope.pagination.current_page === 1) alter(first);
    return withPieces(envelope);
  });
  onTestFinished(() => proxy.close());
  const api = makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url: proxy.url, secret: SECRET, timeoutMs: 5000, attempts: { firstWaitMs: 0 } },
  );
  onTestFinished(() => api.close());
  return runSync({ api, db, log }, { resource, mode: 'full', acceptDeletes: false });
}

async function rejections(runId: number | null) {
  const { rows } = await given().database.pool.query<{ reason: string; payload: string }>(
    'select reason, payload::text from rejected_records where run_id = $1 order by id',
    [runId],
  );
  return rows;
}

afterEach(async () => {
  const { pool } = given().database;
  for (const table of ['referrals', 'affiliates', 'links', 'campaigns'])
    await pool.query(`delete from ${table}`);
});

const FIELDS = ['an unknown field', 'a known field', 'the affiliate', 'the link', 'the customer'] as const;

function nest(record: Wire, where: (typeof FIELDS)[number], levels: number): void {
  if (where === 'an unknown field') record['odd'] = piece(deepArrays(levels));
  if (where === 'a known field') record['visits'] = piece(deepArrays(levels));
  if (where === 'the affiliate') record['affiliate'] = piece(deepObjects(levels, 'affiliate'));
  if (where === 'the link') record['link'] = piece(deepArrays(levels));
  if (where === 'the customer') record['customer'] = { odd: piece(deepObjects(levels, 'odd')) };
}

describe.each([101, 8000, 50_000])('a record nested %i levels deep', (levels) => {
  test.each(FIELDS)('in %s is one rejected record, and the rest lands', async (where) => {
    const summary = await syncAltered('referrals', (record) => nest(record, where, levels));
    expect(summary).toMatchObject({ rows_inserted: 119, rows_rejected: 1, verified: true });
    const [rejection, ...others] = await rejections(summary.id);
    expect(others).toEqual([]);
    expect(rejection?.payload).toContain(CUT_OFF);
    if (where === 'an unknown field') {
      expect(rejection?.reason).toBe('odd: expected at most 100 levels of nested values, got more');
    }
  });
});

describe('a number that JavaScript does not have', () => {
  const LONG = ['9007199254740993', '-12345678901234567890', '0.12345678901234567890123', '1.5', '3'];

  test('is stored digit by digit, and the same again is no change', async () => {
    const { pool } = given().database;
    const alter = (record: Wire) => {
      record['odd'] = { numbers: LONG.map(piece), one: piece(LONG[0] ?? '') };
      (record['affiliate'] as Wire)['odd'] = piece(LONG[1] ?? '');
      (record['customer'] as Wire | null) ??= { name: 'a' };
      (record['customer'] as Wire)['odd'] = piece(LONG[2] ?? '');
    };
    const summary = await syncAltered('referrals', alter);
    expect(summary).toMatchObject({ state: 'succeeded', rows_inserted: 120, rows_rejected: 0 });
    const { rows } = await pool.query(
      `select _extra #>> '{odd,numbers}' as numbers, _extra #>> '{odd,one}' as one,
         _extra #>> '{customer,odd}' as customer from referrals where _extra is not null`,
    );
    expect(rows).toEqual([{ numbers: `[${LONG.join(', ')}]`, one: LONG[0], customer: LONG[2] }]);
    const affiliates = await pool.query(
      'select _extra::text as extra from affiliates where _extra is not null',
    );
    expect(affiliates.rows).toEqual([{ extra: `{"odd": ${LONG[1]}}` }]);
    expect(await syncAltered('referrals', alter)).toMatchObject({ rows_inserted: 0, rows_updated: 0 });

    // One digit more or less, far behind what a double holds, is a change.
    const changed = await syncAltered('referrals', (record) => {
      alter(record);
      (record['customer'] as Wire)['odd'] = piece(`${LONG[2]}4`);
    });
    expect(changed).toMatchObject({ rows_inserted: 0, rows_updated: 1 });
  });

  test('is stored in commission_stats too', async () => {
    const stats = '{"currencies":{"USD":{"paid":{"cents":9007199254740993,"rate":0.10000000000000000001}}}}';
    await syncAltered('affiliates', (record) => {
      record['commission_stats'] = piece(stats);
    });
    const { rows } = await given().database.pool.query(
      `select commission_stats #> '{currencies,USD,paid}' ->> 'cents' as cents,
         commission_stats #> '{currencies,USD,paid}' ->> 'rate' as rate
       from affiliates where commission_stats #> '{currencies,USD,paid,rate}' is not null`,
    );
    expect(rows).toEqual([{ cents: '9007199254740993', rate: '0.10000000000000000001' }]);
  });

  test.each([
    {
      field: 'visits',
      number: '9007199254740993',
      says: /^visits: expected a whole number below 2\^53, got number$/,
    },
    {
      field: 'customer',
      number: '12345678901234567890',
      says: /^customer: expected object, got number$/,
    },
    { field: 'link', number: '12345678901234567890', says: /^link\./ },
    { field: 'odd', number: '1e400', says: /^odd: expected a number of at most/ },
    { field: 'odd', number: '1.2345678901234567e400', says: /^odd: expected a number of at most/ },
    { field: 'odd', number: '1.2345678901234567e-20000', says: /^odd: expected a number of at most/ },
    { field: 'odd', number: `0.${'1'.repeat(20_000)}`, says: /^odd: expected a number of at most/ },
  ])('$number in $field is one rejected record', async ({ field, number, says }) => {
    const summary = await syncAltered('referrals', (record) => {
      record[field] = piece(number);
    });
    expect(summary).toMatchObject({ rows_inserted: 119, rows_rejected: 1 });
    const [rejection] = await rejections(summary.id);
    expect(rejection?.reason).toMatch(says);
    if (field !== 'odd') expect(rejection?.payload).toContain(`:${number}`);
  });
});

test.each(['9999-12-31T23:59:59-05:00', '0001-01-01T00:00:00+05:00'])(
  'a record with the moment %s is one rejected record',
  async (moment) => {
    const summary = await syncAltered('referrals', (record) => {
      record['expires_at'] = moment;
    });
    expect(summary).toMatchObject({ rows_inserted: 119, rows_rejected: 1 });
    expect((await rejections(summary.id)).map(({ reason }) => reason)).toEqual([
      'expires_at: expected a year from 1 to 9999 in UTC, got string',
    ]);
  },
);

/** Everything that can be read of the mirror. */
async function dump(): Promise<string> {
  const { pool } = given().database;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'mirror' and table_type = 'BASE TABLE'`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

test('the API secret is not stored, as data, as an unknown field or in a record that is rejected', async () => {
  const echoes = [SECRET, encodeURIComponent(SECRET), Buffer.from(`${SECRET}:`).toString('base64')];
  for (const isRejected of [false, true]) {
    await syncAltered('referrals', (record) => {
      record['customer'] = { platform: 'stripe', id: 'a', name: echoes.join(' '), email: null };
      record['odd'] = Object.fromEntries(echoes.map((echo) => [echo, [echo]]));
      if (isRejected) record['visits'] = echoes[0];
    });
  }
  const stored = await dump();
  expect(stored).toContain('[secret]');
  for (const echo of echoes) {
    expect(stored).not.toContain(echo);
    expect(stored).not.toContain(JSON.stringify(echo).slice(1, -1));
  }
});
