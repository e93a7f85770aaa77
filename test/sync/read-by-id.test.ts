// Commissions that are asked for one by one: what of a program's answers is believed, and that all of them are loaded.

import { pino } from 'pino';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { ContractViolation } from '../../src/base/errors.ts';
import { makeDecoding } from '../../src/decode/decode-page.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeFirstLoad } from '../../src/mirror/send-rows.ts';
import { readById } from '../../src/sync/read-by-id.ts';
import { makeRunLoader, type RunLoader } from '../../src/sync/run-loader.ts';
import { makeRefusal } from '../api/make-refusal.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 10, referrals: 300, optionalLists: ['commissions'] });
const resource = 'commissions' as const;
let ids: readonly string[] = [];
let loader: RunLoader;

beforeAll(async () => {
  ids = (await given().sandbox.allCommissions()).map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(45);
});

beforeEach(async () => {
  const { db, database } = given();
  await database.pool.query(
    'truncate commissions, sales, sync_runs, seen_rows, record_history restart identity',
  );
  const run = await startRun(db, { resource, mode: 'full' });
  const before = { seen: makeSeenRows(), firstLoad: makeFirstLoad(false) };
  loader = makeRunLoader({ db, account: null, run, resource, ...before, signal: undefined });
});

function read(asked: readonly string[], getCommission = given().api.getCommission) {
  const { api, db } = given();
  const log = pino({ level: 'silent' });
  const reading = { db, log, loader, decoding: makeDecoding(resource), signal: undefined };
  return readById({ api: { ...api, getCommission }, ...reading }, 'commissions', asked);
}

async function mirrored(): Promise<readonly string[]> {
  const { rows } = await given().database.pool.query<{ id: string }>(
    'select id from commissions order by id',
  );
  return rows.map(({ id }) => id);
}

/** Answers what the test says for the identifiers it names, and what the program says for all others. */
function answering(answers: Readonly<Record<string, Error>>): ApiClient['getCommission'] {
  return async (id, options) => {
    const answer = answers[id];
    if (answer !== undefined) throw answer;
    return given().api.getCommission(id, options);
  };
}

async function savedRequests(): Promise<number> {
  const { requests } = await given().db.selectFrom('sync_runs').select('requests').executeTakeFirstOrThrow();
  return requests;
}

const notFound = () => makeRefusal('no such commission', 404);

test('all that are there are loaded and met, in however many batches', async () => {
  const asked = ids.slice(0, 45);
  expect(await read(asked)).toEqual({ gone: null, unreadable: [], unclear: 0 });
  expect(await mirrored()).toEqual(asked.toSorted());
  expect(loader.unsavedRequests()).toBe(0);
  expect(await savedRequests()).toBe(45);
});

test('404 says that one is gone, where the program has another that the run met', async () => {
  await read(ids.slice(0, 1));
  const [, gone = '', there = ''] = ids;
  expect(await read([gone, there], answering({ [gone]: notFound() }))).toEqual({
    gone: { ids: [gone], observedAt: expect.any(String) },
    unreadable: [],
    unclear: 0,
  });
});

test('404 says nothing, where the run has met no commission that the program could be asked for', async () => {
  const [gone = ''] = ids;
  expect(await read([gone], answering({ [gone]: notFound() }))).toEqual({
    gone: null,
    unreadable: [],
    unclear: 1,
  });
});

test.each([
  ['404', notFound()],
  ['a refusal', makeRefusal('not now', 422)],
  ['something unreadable', new ContractViolation('200 with a body that is not JSON')],
])('404 says nothing, where the answer for another is %s', async (_, answer) => {
  const [met = '', gone = ''] = ids;
  await read([met]);
  expect(await read([gone], answering({ [gone]: notFound(), [met]: answer }))).toEqual({
    gone: null,
    unreadable: [],
    unclear: 1,
  });
});

test('of one that the program refuses or answers unreadably nothing is known, though it answers others', async () => {
  const [met = '', refused = '', paged = '', unreadable = '', there = ''] = ids;
  await read([met]);
  const answers = {
    [refused]: makeRefusal('not now', 422),
    [paged]: makeRefusal('<html>404 Not Found</html>', 404, false),
    [unreadable]: new ContractViolation('200 with a body that is not JSON'),
  };
  expect(await read([refused, paged, unreadable, there], answering(answers))).toEqual({
    gone: null,
    unreadable: [unreadable],
    unclear: 3,
  });
  expect(await mirrored()).toEqual([met, there].toSorted());
});
