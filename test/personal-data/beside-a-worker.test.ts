// A mirror that is switched, or a person who is forgotten, while a process of the former mode, or of before, works on:
// what it still asks and sends, and what it stores of what the program answers.

import { expect, onTestFinished, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { trackCommissions } from '../../src/commissions/tracking/track-commissions.ts';
import { pollTracked } from '../../src/commissions/tracking/tracked-commissions.ts';
import { drainUpdates } from '../../src/commissions/writer/drain-updates.ts';
import { AUTO, OPTIONAL_LISTS } from '../../src/config/optional-lists.ts';
import { PersonalDataMismatch } from '../../src/errors.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import {
  makePersonalDataSource,
  type PersonalDataSource,
} from '../../src/personal-data/personal-data-source.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { findOptionalLists } from '../../src/sync/find-optional-lists.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import {
  makeAlteredApi,
  makeTestApi,
  PAID_AT,
  silent,
  useWriter,
} from '../commissions/writer/start-writer.ts';
import { findText, HASH, PLAIN } from './marked-program.ts';

const writer = useWriter();
const signal = AbortSignal.timeout(100_000);

/** Returns the treatment of a process that was started in mode plain. */
async function startPlain(): Promise<PersonalDataSource> {
  const { db } = writer();
  await switchMode(db, PLAIN);
  const personalData = makePersonalDataSource(PLAIN);
  await personalData.current(db);
  return personalData;
}

const limits = { requests: 100_000, windowSeconds: 0.1 };

interface Work {
  readonly api: ApiClient;
  readonly personalData: PersonalDataSource;
}

/** Whatever asks the program for anything, each for one thing. */
const WORK = {
  async 'a payment'({ api, personalData }: Work) {
    const { db, ask, fresh } = writer();
    await ask({ commission_id: (await fresh()).id, action: 'pay', paid_at: PAID_AT });
    await drainUpdates({ api, db, log: silent, personalData }, { concurrency: 4, signal });
  },
  async 'a poll'({ api, personalData }: Work) {
    const { db, database, fresh } = writer();
    await trackCommissions(db, [(await fresh()).id], 'finance');
    await database.pool.query('update mirror.tracked_commissions set next_poll_at = now()');
    await pollTracked({ client: api, db, log: silent, personalData }, { concurrency: 1, signal });
  },
  async 'a sync'({ api, personalData }: Work) {
    const input = { resource: 'affiliates', mode: 'full', acceptDeletes: false } as const;
    await runSync({ api, db: writer().db, log: silent, personalData }, input);
  },
  async 'the question for the list'({ api, personalData }: Work) {
    const asking = { settings: AUTO, lists: OPTIONAL_LISTS, signal };
    await findOptionalLists({ api, db: writer().db, log: silent, personalData }, asking);
  },
};
const ALL = Object.entries(WORK);

test.each(
  ALL.flatMap(([what, work]) => [
    [what, 'with a limit', limits, work] as const,
    [what, 'without a limit', null, work] as const,
  ]),
)(
  'after a switch, %s of the former mode asks and sends nothing (%s)',
  async (_what, _how, rateLimit, work) => {
    const { db, sandbox, received } = writer();
    const personalData = await startPlain();
    const api = makeTestApi(db, sandbox.url, { personalData, rateLimit });
    onTestFinished(() => api.close());
    await switchMode(db, HASH);
    await expect(work({ api, personalData })).rejects.toThrow(PersonalDataMismatch);
    expect(received()).toEqual([]);
  },
);

test('after a switch, the payments of the former writer are pending, and free for another one', async () => {
  const { db, sandbox, ask, freshMany, row } = writer();
  const personalData = await startPlain();
  const api = makeTestApi(db, sandbox.url, { personalData });
  onTestFinished(() => api.close());
  await switchMode(db, HASH);
  const asked = await ask(
    ...(await freshMany(3)).map(
      ({ id }) => ({ commission_id: id, action: 'pay', paid_at: PAID_AT }) as const,
    ),
  );
  const drain = drainUpdates({ api, db, log: silent, personalData }, { concurrency: 4, signal });
  await expect(drain).rejects.toThrow('this mirror keeps personal data as hash, and PII is plain here');
  for (const { id } of asked) {
    expect(await row(id)).toMatchObject({
      state: 'pending',
      put_sent_at: null,
      claimed_by: null,
      attempts: 0,
    });
  }
  const heir = makePersonalDataSource(HASH);
  await drainUpdates({ api: writer().api, db, log: silent, personalData: heir }, { concurrency: 4, signal });
  for (const { id } of asked) expect(await row(id)).toMatchObject({ state: 'applied' });
});

test('where the mirror is switched while a commission is read, its change is not sent', async () => {
  const { db, received, ask, fresh, row } = writer();
  const personalData = await startPlain();
  const api = await makeAlteredApi(
    writer(),
    async (body) => {
      await switchMode(db, HASH);
      return body;
    },
    personalData,
  );
  const [asked] = await ask({ commission_id: (await fresh()).id, action: 'pay', paid_at: PAID_AT });
  const drain = drainUpdates({ api, db, log: silent, personalData }, { concurrency: 4, signal });
  await expect(drain).rejects.toThrow(PersonalDataMismatch);
  expect(received('GET')).toHaveLength(1);
  expect(received('PUT')).toEqual([]);
  expect(await row(asked?.id)).toMatchObject({ state: 'pending', put_sent_at: null });
});

/** An answer that refuses the request and names somebody, once `meanwhile` is done. */
function refusing(address: string, meanwhile: () => Promise<unknown>) {
  let isDone = false;
  return async (body: string, path: string) => {
    const isAffiliates = path.includes('affiliates');
    if (isDone && isAffiliates) return body;
    if (!isDone) {
      isDone = true;
      await meanwhile();
    }
    return { status: 422, body: JSON.stringify({ error: `${address} may not be paid` }) };
  };
}

test.each(ALL)(
  'what is answered to %s while the mirror is switched is quoted nowhere',
  async (_what, work) => {
    const { database, db } = writer();
    const personalData = await startPlain();
    const address = 'someone@switched.example';
    const api = await makeAlteredApi(
      writer(),
      refusing(address, () => switchMode(db, HASH)),
      personalData,
    );
    const error: unknown = await work({ api, personalData }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PersonalDataMismatch);
    expect(await findText(database, address)).toEqual([]);
  },
);

test.each([
  ['a payment', 'commission_update_attempts'],
  ['a poll', 'tracked_commissions'],
  ['a sync', 'sync_runs'],
  ['the question for the list', 'optional_lists'],
] as const)('what is answered to %s while somebody is forgotten does not name them', async (what, table) => {
  const { database, db } = writer();
  const personalData = await startPlain();
  const address = `${what.replaceAll(' ', '-')}@forgotten.example`;
  const forget = () => forgetPerson(db, PLAIN, { who: address, by: 'test' });
  const api = await makeAlteredApi(writer(), refusing(address, forget), personalData);
  // A sync ends with the refusal; what goes on notes it.
  const error: unknown = await WORK[what]({ api, personalData }).catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(PersonalDataMismatch);
  expect(await findText(database, address)).toEqual([]);
  expect(await findText(database, 'it names somebody who was forgotten')).toContain(table);
});

test('a payment that is noted while somebody is being forgotten does not name them', async () => {
  const { database, db, ask, fresh, row, attempts } = writer();
  const { pool } = database;
  const personalData = await startPlain();
  const address = 'waiting@forgotten.example';
  const waitsFor = async (mode: string, table: string) => {
    const { rowCount } = await pool.query(
      'select from pg_locks where not granted and mode = $1 and relation = $2::regclass',
      [mode, `mirror.${table}`],
    );
    return rowCount;
  };
  const [asked] = await ask({ commission_id: (await fresh()).id, action: 'pay', paid_at: PAID_AT });
  const blocker = await pool.connect();
  onTestFinished(() => blocker.release());
  await blocker.query('begin; lock table mirror.affiliates in access exclusive mode');
  let forgetting: Promise<unknown> | undefined;
  // It holds the payment ledger by then.
  const beginToForget = async () => {
    forgetting = forgetPerson(db, PLAIN, { who: address, by: 'test' });
    await expect.poll(() => waitsFor('AccessShareLock', 'affiliates')).toBe(1);
  };
  const api = await makeAlteredApi(writer(), refusing(address, beginToForget), personalData);
  const drained = drainUpdates({ api, db, log: silent, personalData }, { concurrency: 4, signal });
  await expect.poll(() => waitsFor('RowExclusiveLock', 'commission_updates'), { timeout: 10_000 }).toBe(1);
  await blocker.query('rollback');
  await Promise.all([forgetting, drained]);
  expect(await row(asked?.id)).toMatchObject({ state: 'rejected' });
  expect(await findText(database, address)).toEqual([]);
  expect((await attempts(asked?.id)).map(({ error }) => error)).toContain(
    'left out: it names somebody who was forgotten',
  );
});
