// Which of the optional lists the program has: found out by one request or two each, kept for a day, never assumed.

import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeApiClient } from '../../src/api/client.ts';
import { readVersion } from '../../src/base/package.ts';
import type { ListSettings } from '../../src/config/program/optional-lists.ts';
import { noteListSettings } from '../../src/mirror/optional-lists.ts';
import { readHealth, readOptionalLists } from '../../src/reports/read-health.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { findOptionalLists } from '../../src/sync/find-optional-lists.ts';
import type { JobSource } from '../../src/worker/queue/job-source.ts';
import { TIMINGS } from '../../src/worker/queue/timings.ts';
import { makeListsSource } from '../../src/worker/sources/list-job.ts';
import { makePollSource } from '../../src/worker/sources/poll-job.ts';
import { makeSchedules, makeSyncSource } from '../../src/worker/sources/sync-job.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';
import { useSyncing } from './syncing.ts';

const log = pino({ level: 'silent' });
const moment = () => ({ db: given().database.db, nowMs: Date.now(), madeMs: 0 });
/** A program that does not list its commissions, and beside it one that does. */
const given = useSyncing({ affiliates: 5, referrals: 40 });
let listing: TestSandbox;

beforeEach(async () => {
  await given().database.pool.query(
    `truncate sync_runs, tracked_commissions;
     update optional_lists set setting = 'auto', is_served = null, found_at = null, found_by = null, asked_at = null,
       problem = null`,
  );
  const { pool } = await createTestDatabase();
  listing = await runSandbox(pool, { affiliates: 5, referrals: 40, optionalLists: ['commissions'] });
  return async () => {
    given().sandbox.setFaults(NO_FAULTS);
    await listing.close();
  };
});

function clientOf(sandbox: TestSandbox, secret = SECRET) {
  return makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url: sandbox.url, secret, timeoutMs: 2000, attempts: { most: 1, mostThrottled: 1 } },
  );
}

/** Asks that program, where that is due; returns what was found and how many requests it took. */
async function find(
  sandbox: TestSandbox,
  {
    setting = 'auto' as ListSettings['commissions'],
    isAsked = false,
    secret = SECRET,
    others = 'off' as ListSettings['campaigns'],
  } = {},
) {
  const last = () => sandbox.requests.at(-1)?.number ?? 0;
  const before = last();
  const api = clientOf(sandbox, secret);
  const settings = { commissions: setting, campaigns: others, payouts: others };
  const lists = isAsked ? (['commissions'] as const) : undefined;
  const { used, problems } = await findOptionalLists({ api, db: given().db, log }, { settings, lists });
  await api.close();
  return {
    isUsed: used.includes('commissions'),
    code: problems.get('commissions')?.code ?? null,
    requests: last() - before,
  };
}

/** Returns what was last found out of commissions. */
async function readFound() {
  const { rows } = await readOptionalLists({ db: given().db, mirrorSchema: 'mirror' });
  return rows.find(({ resource }) => resource === 'commissions');
}

const age = (what: string) => given().database.pool.query(`update optional_lists set ${what}`);

test('an envelope means that it does: kept with its date and version, and not asked again for a day', async () => {
  expect(await find(listing)).toEqual({ isUsed: true, code: null, requests: 1 });
  expect(await find(listing)).toEqual({ isUsed: true, code: null, requests: 0 });
  const { rows } = await given().database.pool.query(
    'select is_served, is_used, found_by, found_at = asked_at as is_dated from optional_lists where is_used',
  );
  expect(rows).toEqual([{ is_served: true, is_used: true, found_by: readVersion(), is_dated: true }]);
  await age(`found_at = found_at - interval '23 hours'`);
  expect((await find(listing)).requests).toBe(0);
  await age(`found_at = found_at - interval '2 hours'`);
  expect((await find(listing)).requests).toBe(1);
});

test('404 means that it does not: two requests a day, and the other way round when it does', async () => {
  const { sandbox } = given();
  expect(await find(sandbox)).toEqual({ isUsed: false, code: null, requests: 2 });
  expect(sandbox.requests.slice(-2).map(({ url }) => url.split('?')[0])).toEqual([
    '/v1/commissions',
    '/v1/affiliates',
  ]);
  expect(await find(sandbox)).toEqual({ isUsed: false, code: null, requests: 0 });
  await age(`found_at = found_at - interval '25 hours'`);
  expect(await find(listing)).toEqual({ isUsed: true, code: null, requests: 1 });
});

test('payouts that are not served cost one request a day, beside lists that are', async () => {
  const settings = { campaigns: 'off', commissions: 'auto', payouts: 'auto' } as const;
  const api = clientOf(listing);
  const asked = async () => {
    const before = listing.requests.length;
    const { used } = await findOptionalLists({ api, db: given().db, log }, { settings });
    expect(used).not.toContain('payouts');
    return listing.requests.slice(before).map(({ url }) => url.split('?')[0]);
  };
  expect(await asked()).toEqual(['/v1/commissions', '/v1/payouts', '/v1/affiliates']);
  expect(await asked()).toEqual([]);
  await age(`found_at = found_at - interval '25 hours'`);
  // What is listed after it says that the API is there.
  expect(await asked()).toEqual(['/v1/payouts', '/v1/commissions']);
  await api.close();
});

test('another version asks again, and so does whoever must know', async () => {
  await find(listing);
  await age(`found_by = '0.0.1' where found_by is not null`);
  expect((await find(listing)).requests).toBe(1);
  expect((await find(listing, { isAsked: true })).requests).toBe(1);
});

test('404 to everything decides nothing: what was known stays, and the question stays open', async () => {
  // As a load balancer answers that has lost the program behind it.
  const lost = { ...listing, url: `${listing.url}/lost` };
  const open = { is_served: null, found_at: null, problem: expect.stringContaining('/v1/affiliates') };
  expect(await find(lost)).toEqual({ isUsed: false, code: 'API_REJECTED', requests: 2 });
  expect(await readFound()).toMatchObject(open);
  expect(await find(listing)).toEqual({ isUsed: true, code: null, requests: 1 });
  const found_at = (await readFound())?.found_at;
  expect(await find(lost, { isAsked: true })).toEqual({ isUsed: true, code: 'API_REJECTED', requests: 2 });
  expect(await readFound()).toMatchObject({
    ...open,
    is_served: true,
    found_at,
  });
});

describe('any other answer decides nothing', () => {
  test.each([
    ['a refused secret', 'API_UNAUTHORIZED', { secret: 'wrong' }, NO_FAULTS],
    ['an outage', 'API_UNAVAILABLE', {}, { shares: { '5xx': 1 }, exact: [] }],
    ['a page of HTML', 'CONTRACT_VIOLATION', {}, { shares: { html: 1 }, exact: [] }],
    ['no envelope', 'CONTRACT_VIOLATION', {}, { shares: { 'no-envelope': 1 }, exact: [] }],
    ['a redirect', 'API_REJECTED', {}, { shares: { redirect: 1 }, exact: [] }],
    ['a connection that breaks', 'API_UNREACHABLE', {}, { shares: { reset: 1 }, exact: [] }],
    ['429', 'API_THROTTLED', {}, { shares: { '429': 1 }, exact: [] }],
  ] as const)('%s', async (_what, code, how, faults) => {
    listing.setFaults(faults);
    expect(await find(listing, how)).toMatchObject({ isUsed: false, code });
    expect(await readFound()).toMatchObject({
      is_served: null,
      found_at: null,
      problem: expect.any(String),
    });
    // It is asked again at once by whoever syncs, and what was known before stays.
    listing.setFaults(NO_FAULTS);
    expect(await find(listing)).toMatchObject({ isUsed: true, code: null });
    listing.setFaults(faults);
    expect(await find(listing, { ...how, isAsked: true })).toMatchObject({ isUsed: true, code });
  });
});

test('OPTIONAL_LISTS decides without a request, where it names the list or leaves it out', async () => {
  expect(await find(given().sandbox, { setting: 'on', isAsked: true })).toMatchObject({
    isUsed: true,
    requests: 0,
  });
  expect(await find(listing, { setting: 'off', isAsked: true })).toMatchObject({
    isUsed: false,
    requests: 0,
  });
  expect(await find(listing, { setting: 'auto' })).toMatchObject({ isUsed: true, requests: 1 });
});

describe('a worker', () => {
  const dueOf = async (duty: JobSource) =>
    (await duty.findDue(moment())).map(({ id }) => id.replace(/-\d+$/, ''));
  const noteFull = (resource: string) =>
    given().database.pool.query(
      `insert into sync_runs (resource, mode, state, verified, finished_at)
       values ($1, 'full', 'succeeded', true, clock_timestamp() - interval '3 days')`,
      [resource],
    );

  test('asks once something was read, once a day, and again in a while where that decided nothing', async () => {
    const { db } = given();
    const api = clientOf(listing);
    const settings = { campaigns: 'off', commissions: 'auto', payouts: 'off' } as const;
    const duty = makeListsSource({ api, db, log }, settings);
    await noteListSettings(db, settings);
    const run = async () => {
      const [due] = await duty.findDue(moment());
      await due?.run({ signal: new AbortController().signal, waitedMs: 0 });
    };
    expect(await dueOf(duty)).toEqual([]);
    await noteFull('affiliates');
    expect(await dueOf(duty)).toEqual(['find-optional-lists']);
    listing.setFaults({ shares: { '5xx': 1 }, exact: [] });
    await run();
    expect(await dueOf(duty)).toEqual([]);
    await age(`asked_at = asked_at - interval '11 minutes'`);
    listing.setFaults(NO_FAULTS);
    await run();
    expect(await readFound()).toMatchObject({
      is_served: true,
      problem: null,
    });
    expect(await dueOf(duty)).toEqual([]);
    await age(`found_at = found_at - interval '25 hours', asked_at = asked_at - interval '25 hours'`);
    expect(await dueOf(duty)).toEqual(['find-optional-lists']);
    await api.close();
  });

  test('syncs commissions, shows them, and rests from asking for known ones only where they are listed', async () => {
    const { db, database, api } = given();
    await database.pool.query(
      `insert into tracked_commissions (commission_id) values ('0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11')`,
    );
    const nightly = makeSchedules({ full: '0 2 * * *', delta: null, timezone: 'UTC' });
    const syncs = makeSyncSource({ api, db, log }, { schedules: nightly }, TIMINGS);
    const polls = makePollSource({ api, db, log });
    const seen = async () => ({
      syncs: await dueOf(syncs),
      polls: await dueOf(polls),
      shown: (await readHealth({ db, mirrorSchema: 'mirror' })).health.resources.map(
        ({ resource }) => resource,
      ),
    });
    const both = ['sync-affiliates-full', 'sync-referrals-full'];
    const without = { syncs: both, polls: ['poll-commissions'], shown: ['affiliates', 'referrals'] };
    expect(await seen()).toEqual(without);
    await find(given().sandbox);
    expect(await seen()).toEqual(without);
    await find(listing, { isAsked: true });
    const listed = {
      syncs: [...both, 'sync-commissions-full'],
      shown: ['affiliates', 'referrals', 'commissions'],
    };
    // Until all were read once, the known ones are asked for.
    expect(await seen()).toEqual({ ...listed, polls: ['poll-commissions'] });
    await noteFull('commissions');
    expect(await seen()).toEqual({ ...listed, polls: [] });
  });
});
