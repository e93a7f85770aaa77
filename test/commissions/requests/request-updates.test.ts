// Asking for updates: what may be asked for, by whom, and how the table refuses invalid requests.

import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { contentKey } from '../../../src/commissions/requests/content-key.ts';
import {
  COMMISSION_UPDATES_CHANNEL,
  findRequested,
  type RequestedUpdate,
  requestUpdates,
} from '../../../src/commissions/requests/request-updates.ts';
import { cancelUpdates, retryUpdates } from '../../../src/commissions/requests/revise-updates.ts';
import { plainRequest, type UpdateRequest } from '../../../src/commissions/update-request.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { countWaiting } from '../../support/count-waiting.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let db: Database;
let made = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  db = makeDatabase(database.pool);
});

function newId(): string {
  made += 1;
  return `00000000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`;
}

function ask(
  ...requests: (Partial<UpdateRequest> & Pick<UpdateRequest, 'commission_id' | 'action'>)[]
): Promise<RequestedUpdate[]> {
  return requestUpdates({ db }, requests.map(plainRequest), { batchId: 'b', requestedBy: null });
}

async function insert(columns: Record<string, unknown>): Promise<number> {
  const names = Object.keys(columns);
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into commission_updates (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})
     returning id`,
    Object.values(columns),
  );
  return rows[0]?.id ?? 0;
}

const AT = '2026-10-01T00:00:00Z';
const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';

describe('the table refuses', () => {
  test.each([
    [
      'an unknown action',
      { commission_id: ID, action: 'paid' },
      /unknown action 'paid'/,
      /pay \(with paid_at\)/,
    ],
    ['no action', { commission_id: ID, action: null }, /unknown action null/, /pay/],
    ['a pay without a timestamp', { commission_id: ID, action: 'pay' }, /paid_at is empty/, /unpay/],
    [
      'an unpay with a timestamp',
      { commission_id: ID, action: 'unpay', paid_at: AT },
      /unpay with a timestamp/,
      /Only pay takes paid_at/,
    ],
    ['a blank due_at', { commission_id: ID, action: 'due' }, /blank due_at/, /never removed/],
    [
      'a pay with a due date',
      { commission_id: ID, action: 'pay', paid_at: AT, due_at: AT },
      /due date/,
      /own/,
    ],
    [
      'a due with a timestamp of payment',
      { commission_id: ID, action: 'due', due_at: AT, paid_at: AT },
      /due with/,
      /pay/,
    ],
    ['an id that is no UUID', { commission_id: '17', action: 'unpay' }, /'17' is not the identifier/, /UUID/],
    ['no id', { commission_id: null, action: 'unpay' }, /null is not the identifier/, /UUID/],
    ['infinity', { commission_id: ID, action: 'pay', paid_at: 'infinity' }, /beyond the years/, undefined],
    [
      'an expectation of infinity',
      { commission_id: ID, action: 'unpay', expected_paid_at: 'infinity' },
      /beyond the years/,
      undefined,
    ],
    [
      'an unpay even if refunded',
      { commission_id: ID, action: 'unpay', even_if_refunded: true },
      /unpay with even_if_refunded/,
      /Only pay takes even_if_refunded/,
    ],
    [
      'an expectation that contradicts itself',
      { commission_id: ID, action: 'unpay', expected_unpaid: true, expected_paid_at: AT },
      /unpaid and paid at once/,
      /not both/,
    ],
    [
      'a key that no index could keep',
      { commission_id: ID, action: 'unpay', idempotency_key: 'k'.repeat(201) },
      /an idempotency_key of 201 characters/,
      /at most 200/,
    ],
    ['a state', { commission_id: ID, action: 'unpay', state: 'applied' }, /starts out as pending/, /writer/],
  ])('%s, and says how to fix it', async (_, columns, message, hint) => {
    const failure = await insert(columns).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(pg.DatabaseError);
    expect(failure).toMatchObject({ message: expect.stringMatching(message) });
    if (hint !== undefined) expect(failure).toMatchObject({ hint: expect.stringMatching(hint) });
  });

  test('a key that names another request, and the same request again does nothing', async () => {
    const first = { commission_id: newId(), action: 'pay', paid_at: AT, idempotency_key: 'invoice 7' };
    expect(await insert(first)).toBeGreaterThan(0);
    expect(await insert({ ...first, reason: 'said otherwise' })).toBe(0);
    await expect(insert({ ...first, paid_at: '2026-10-02T00:00:00Z' })).rejects.toThrow(
      /idempotency_key 'invoice 7' names another request already \(number \d+: pay of commission/,
    );
    const { rows } = await database.pool.query(
      `select count(*) as requests from commission_updates where idempotency_key = 'invoice 7'`,
    );
    expect(rows).toEqual([{ requests: 1 }]);
  });

  test('edits of what was asked, and deletions', async () => {
    const id = await insert({ commission_id: newId(), action: 'unpay' });
    await expect(
      database.pool.query(`update commission_updates set action = 'pay', paid_at = now() where id = $1`, [
        id,
      ]),
    ).rejects.toThrow(/never edited/);
    await expect(database.pool.query('delete from commission_updates')).rejects.toThrow(/nothing is deleted/);
  });
});

test('a user who may only insert can ask, is named in the payment ledger, and can do nothing else', async () => {
  const role = `asker_${process.pid}`;
  const columns = `batch_id, commission_id, action, paid_at, due_at, expected_unpaid, expected_paid_at, expected_amount,
    expected_currency, reason, requested_by, idempotency_key, supersede`;
  const client = await database.pool.connect();
  try {
    await client.query(`create role ${role}`);
    await client.query(`grant usage on schema mirror to ${role}`);
    await client.query(`grant insert (${columns}) on mirror.commission_updates to ${role}`);
    await client.query(`set role ${role}`);
    const commissionId = newId();
    const insertion = `insert into commission_updates (commission_id, action, idempotency_key) values ($1, 'unpay', 'k9')`;
    expect((await client.query(insertion, [commissionId])).rowCount).toBe(1);
    expect((await client.query(insertion, [commissionId])).rowCount).toBe(0);
    await expect(client.query('select * from commission_updates')).rejects.toThrow(/permission denied/);
    await expect(
      client.query(
        `insert into commission_updates (commission_id, action, database_user) values ($1, 'unpay', 'boss')`,
        [commissionId],
      ),
    ).rejects.toThrow(/permission denied/);
    await client.query('reset role');
    const { rows } = await client.query(
      `select requested_by, database_user = session_user as is_true from commission_updates where idempotency_key = 'k9'`,
    );
    expect(rows).toEqual([{ requested_by: role, is_true: true }]);
  } finally {
    await client.query('reset role');
    await client.query(`drop owned by ${role}`);
    await client.query(`drop role ${role}`);
    client.release();
  }
});

/** Returns what wakes the workers while `act` runs, once it has woken them. */
async function heardDuring(act: () => Promise<unknown>): Promise<(string | undefined)[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const heard: (string | undefined)[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  client.on('notification', ({ payload }) => {
    heard.push(payload);
    resolve();
  });
  await client.query(`listen ${COMMISSION_UPDATES_CHANNEL}`);
  await act();
  await promise;
  await client.end();
  return heard;
}

test('whoever asks wakes the workers, once per statement', async () => {
  const requests = [newId(), newId()].map((commission_id) => ({ commission_id, action: 'unpay' }) as const);
  expect(await heardDuring(() => ask(...requests))).toEqual(['mirror']);
});

test('requests are numbered in the order in which their transactions asked', async () => {
  const commissionId = newId();
  const first = await database.pool.connect();
  await first.query('begin');
  const insertion = 'insert into commission_updates (commission_id, action) values ($1, $2) returning id';
  const a = await first.query<{ id: number }>(insertion, [commissionId, 'unpay']);
  const second = insert({ commission_id: commissionId, action: 'pay', paid_at: AT });
  // The second one waits for its turn: its number is given only when the first one is visible.
  await expect.poll(() => countWaiting(database.pool)).toBe(1);
  await first.query('commit');
  first.release();
  expect(await second).toBeGreaterThan(a.rows[0]?.id ?? Number.POSITIVE_INFINITY);
});

describe('asking from Node', () => {
  test('returns a line for each request, and says which were asked for before and what overtook them', async () => {
    const commissionId = newId();
    const pay = {
      commission_id: commissionId,
      action: 'pay',
      paid_at: AT,
      idempotency_key: `key ${commissionId}`,
    } as const;
    const first = await ask({ commission_id: newId(), action: 'unpay' }, pay, {
      commission_id: newId(),
      action: 'unpay',
    });
    expect(first.map(({ isNew, state }) => [isNew, state])).toEqual([
      [true, 'pending'],
      [true, 'pending'],
      [true, 'pending'],
    ]);
    expect(first[0]?.id).toBeLessThan(first[1]?.id ?? 0);
    expect(first[1]?.id).toBeLessThan(first[2]?.id ?? 0);

    const again = await ask(pay);
    expect(again).toMatchObject([{ id: first[1]?.id, isNew: false, overtaken_by: null }]);
    const [later] = await ask({ commission_id: commissionId, action: 'unpay' });
    expect(await ask(pay)).toMatchObject([{ id: first[1]?.id, isNew: false, overtaken_by: later?.id }]);
  });

  test.each([' padded ', '\ttabbed\r\n', '\t \n'])(
    'goes by the key %j as the table keeps it',
    async (key) => {
      const request = plainRequest({ commission_id: newId(), action: 'unpay', idempotency_key: key });
      const [first] = await ask(request);
      expect(first).toMatchObject({ id: expect.any(Number), isNew: true, state: 'pending' });
      const isBlank = key.trim() === '';
      const [again] = await ask(request);
      expect(again).toMatchObject({ isNew: isBlank, state: 'pending' });
      expect(again?.id === first?.id).toBe(!isBlank);
      const found = await findRequested(db, [request]);
      expect(found.get(key)?.id).toBe(isBlank ? undefined : first?.id);
    },
  );

  test('what differs for the table has another content key, and what does not has the same', async () => {
    const OTHER = '2026-10-02T00:00:00Z';
    const cases: [Partial<UpdateRequest> & Pick<UpdateRequest, 'action'>, Partial<UpdateRequest>[]][] = [
      [
        { action: 'pay', paid_at: AT, expected_unpaid: true },
        [
          { reason: 'another' },
          { paid_at: OTHER },
          { expected_unpaid: false },
          { expected_amount: 1 },
          { expected_currency: 'EUR' },
          { even_if_refunded: true },
          { supersede: true },
        ],
      ],
      [{ action: 'due', due_at: AT }, [{ due_at: OTHER }, { action: 'unpay', due_at: null }]],
      [{ action: 'unpay' }, [{ expected_paid_at: AT }, { commission_id: newId() }]],
    ];
    for (const [fields, changes] of cases) {
      const base = plainRequest({ commission_id: newId(), ...fields });
      const asked = { ...base, idempotency_key: contentKey(base) };
      await ask(asked);
      for (const change of changes) {
        const found = await findRequested(db, [{ ...asked, ...change }]);
        const hasSameKey = contentKey({ ...base, ...change }) === contentKey(base);
        expect([change, hasSameKey]).toEqual([change, 'reason' in change]);
        expect([change, found.get(asked.idempotency_key)?.isSame]).toEqual([change, hasSameKey]);
      }
    }
  });

  test('queues all or nothing', async () => {
    const good = newId();
    await expect(
      ask({ commission_id: good, action: 'unpay' }, { commission_id: 'nonsense', action: 'unpay' }),
    ).rejects.toThrow(/'nonsense' is not the identifier/);
    const { rowCount } = await database.pool.query(
      'select from commission_updates where commission_id = $1',
      [good],
    );
    expect(rowCount).toBe(0);
  });

  test('the same requests from two processes at once are asked for once', async () => {
    const requests = Array.from({ length: 50 }, () => {
      const commission_id = newId();
      return { commission_id, action: 'unpay', idempotency_key: `twice ${commission_id}` } as const;
    });
    const [one, two] = await Promise.all([ask(...requests), ask(...requests)]);
    expect(one.map(({ id }) => id)).toEqual(two.map(({ id }) => id));
    expect([one, two].flat().filter(({ isNew }) => isNew).length).toBe(50);
  });
});

describe('a request', () => {
  async function endAs(id: number | undefined, state: string): Promise<void> {
    await database.pool.query(
      `update commission_updates set state = $2, outcome = 'so it ended', finished_at = now() where id = $1`,
      [id, state],
    );
  }

  async function statesOf(...ids: (number | undefined)[]): Promise<readonly string[]> {
    const { rows } = await database.pool.query<{ state: string }>(
      'select state from commission_updates where id = any($1) order by id',
      [ids],
    );
    return rows.map(({ state }) => state);
  }

  async function failedPay(): Promise<{ failed: number; commission_id: string }> {
    const commission_id = newId();
    const [request] = await ask({ commission_id, action: 'pay', paid_at: AT });
    await endAs(request?.id, 'failed');
    return { failed: request?.id ?? 0, commission_id };
  }

  test('that failed can be retried, unless a later one for the same value has overtaken it', async () => {
    const [alone, overtaken, other] = await ask(
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
    );
    for (const request of [alone, overtaken, other]) await endAs(request?.id, 'failed');
    const commissionOf = async (id: number | undefined): Promise<string> => {
      const found = await database.pool.query('select commission_id from commission_updates where id = $1', [
        id,
      ]);
      return found.rows[0].commission_id;
    };
    // Another value of the commission than the one that was to be taken back.
    const [due, pay] = await ask(
      { commission_id: await commissionOf(other?.id), action: 'due', due_at: AT },
      { commission_id: await commissionOf(overtaken?.id), action: 'pay', paid_at: AT },
    );
    await endAs(due?.id, 'applied');
    await endAs(pay?.id, 'applied');
    const ids = [other, overtaken, alone].map((request) => request?.id ?? 0);
    expect(await retryUpdates(db, { kind: 'requests', ids })).toEqual({
      ids: [alone?.id, other?.id],
      left: [
        {
          id: overtaken?.id,
          reason: `request ${pay?.id} came later and asks otherwise: make a new request instead`,
        },
      ],
    });
    expect(await statesOf(...ids)).toEqual(['pending', 'failed', 'pending']);
  });

  test('that is retried is due at once with all its tries, as if nothing had come of it, and wakes the workers', async () => {
    const { failed } = await failedPay();
    await database.pool.query(
      `update commission_updates set attempts = 9, next_attempt_at = now() + interval '1 hour' where id = $1`,
      [failed],
    );
    expect(await heardDuring(() => retryUpdates(db, { kind: 'requests', ids: [failed] }))).toEqual([
      'mirror',
    ]);
    const { rows } = await database.pool.query(
      `select state, outcome, finished_at, attempts, next_attempt_at <= now() as is_due
       from commission_updates where id = $1`,
      [failed],
    );
    expect(rows).toEqual([{ state: 'pending', outcome: null, finished_at: null, attempts: 0, is_due: true }]);
  });

  test.each(['pending', 'applied', 'unchanged'])(
    'that failed is not retried where a later one is %s',
    async (state) => {
      const { failed, commission_id } = await failedPay();
      const [later] = await ask({ commission_id, action: 'unpay' });
      if (state !== 'pending') await endAs(later?.id, state);
      expect(await retryUpdates(db, { kind: 'requests', ids: [failed] })).toMatchObject({ ids: [] });
      expect(await statesOf(failed)).toEqual(['failed']);
    },
  );

  test.each(['conflict', 'not_found', 'rejected', 'failed', 'superseded', 'cancelled'])(
    'that failed is retried where the later one ended as %s: it changed nothing',
    async (state) => {
      const { failed, commission_id } = await failedPay();
      const [later] = await ask({ commission_id, action: 'unpay' });
      await endAs(later?.id, state);
      expect(await retryUpdates(db, { kind: 'requests', ids: [failed] })).toEqual({
        ids: [failed],
        left: [],
      });
    },
  );

  /** Begins a transaction for `work`, and ends it. */
  async function beside(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await work(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  /** Asks for a request that has to wait, and gives it up once it does. */
  async function giveUp(commission_id: string): Promise<{ asked: Promise<unknown> }> {
    const stop = new AbortController();
    const asked = requestUpdates({ db }, [plainRequest({ commission_id, action: 'unpay' })], {
      batchId: null,
      requestedBy: null,
      signal: stop.signal,
    });
    asked.catch(() => undefined);
    await expect.poll(() => countWaiting(database.pool)).toBe(1);
    stop.abort(new Error('Ctrl-C'));
    return { asked };
  }

  async function expectNotQueued(commission_id: string): Promise<void> {
    const { rows } = await database.pool.query('select from commission_updates where commission_id = $1', [
      commission_id,
    ]);
    expect(rows).toEqual([]);
  }

  test('that is given up while it waits for its turn is not queued, and says why it was given up', async () => {
    const commission_id = newId();
    await beside(async (client) => {
      await client.query(`insert into commission_updates (commission_id, action) values ($1, 'unpay')`, [
        newId(),
      ]);
      const { asked } = await giveUp(commission_id);
      // At once, and not when the other one ends.
      await expect(asked).rejects.toThrow('Ctrl-C');
    });
    await expectNotQueued(commission_id);
  });

  test('that is given up while it is being written is not queued', async () => {
    const commission_id = newId();
    let givenUp: { asked: Promise<unknown> } | undefined;
    await beside(async (client) => {
      await client.query('lock table commission_updates in exclusive mode');
      givenUp = await giveUp(commission_id);
    });
    await expect(givenUp?.asked).rejects.toThrow('Ctrl-C');
    await expectNotQueued(commission_id);
  });

  test('that is asked for while others are retried waits until they are pending again', async () => {
    const [first, second] = [await failedPay(), await failedPay()];
    const order: string[] = [];
    await beside(async (holder) => {
      // Stops the retry in the middle of its statement, when it has begun to read.
      await holder.query('select from commission_updates where id = $1 for update', [first.failed]);
      const retrying = retryUpdates(db, { kind: 'requests', ids: [first.failed, second.failed] });
      const both = [retrying.then(() => order.push('retried'))];
      await expect.poll(() => countWaiting(database.pool)).toBe(1);
      both.push(
        ask({ commission_id: second.commission_id, action: 'unpay' }).then(() => order.push('asked')),
      );
      await expect.poll(async () => order.length + (await countWaiting(database.pool))).toBe(2);
      await holder.query('commit');
      await Promise.all(both);
    });
    expect(order).toEqual(['retried', 'asked']);
  });

  test('that is being asked for overtakes the one that is retried meanwhile', async () => {
    const { failed, commission_id } = await failedPay();
    await beside(async (asking) => {
      const { rows } = await asking.query<{ id: number }>(
        `insert into commission_updates (commission_id, action) values ($1, 'unpay') returning id`,
        [commission_id],
      );
      let isDone = false;
      const retrying = retryUpdates(db, { kind: 'requests', ids: [failed] }).finally(() => {
        isDone = true;
      });
      await expect.poll(async () => isDone || (await countWaiting(database.pool)) === 1).toBe(true);
      await asking.query('commit');
      expect(await retrying).toEqual({
        ids: [],
        left: [{ id: failed, reason: expect.stringContaining(`request ${rows[0]?.id} came later`) }],
      });
    });
  });

  test('that waits can be cancelled, also one of a writer that was killed, and one that is being applied cannot', async () => {
    const [waiting, busy, left] = await ask(
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
      { commission_id: newId(), action: 'unpay' },
    );
    const claim = (id: number | undefined, until: string) =>
      database.pool.query(
        `update commission_updates set claimed_by = 'w', claimed_until = now() + $2::interval where id = $1`,
        [id, until],
      );
    await claim(busy?.id, '1 minute');
    await claim(left?.id, '-1 minute');
    const ids = [left, waiting, busy].map((request) => request?.id ?? 0);
    expect(await cancelUpdates(db, { kind: 'requests', ids }, 'finance')).toEqual({
      ids: [waiting?.id, left?.id],
      left: [{ id: busy?.id, reason: 'it is being applied right now' }],
    });
    const { rows } = await database.pool.query(
      'select state, outcome, claimed_by from commission_updates where id = any($1) order by id',
      [ids],
    );
    const cancelled = { state: 'cancelled', outcome: 'cancelled by finance before anything was sent' };
    expect(rows).toEqual([
      { ...cancelled, claimed_by: null },
      { state: 'pending', outcome: null, claimed_by: 'w' },
      { ...cancelled, claimed_by: null },
    ]);
  });

  test.each(['applied', 'unchanged', 'conflict', 'superseded', 'cancelled'])(
    'that ended as %s is neither retried nor cancelled',
    async (state) => {
      const [request] = await ask({ commission_id: newId(), action: 'unpay' });
      await endAs(request?.id, state);
      const selection = { kind: 'requests', ids: [request?.id ?? 0] } as const;
      const untouched = { ids: [], left: [] };
      expect(await retryUpdates(db, selection)).toEqual(untouched);
      expect(await cancelUpdates(db, selection, 'finance')).toEqual(untouched);
    },
  );

  test('that a writer claims while it is to be cancelled is applied', async () => {
    const [request] = await ask({ commission_id: newId(), action: 'unpay' });
    await beside(async (writer) => {
      await writer.query(
        `update commission_updates set claimed_by = 'w', claimed_until = now() + interval '1 minute' where id = $1`,
        [request?.id],
      );
      const cancelling = cancelUpdates(db, { kind: 'requests', ids: [request?.id ?? 0] }, 'finance');
      await expect.poll(() => countWaiting(database.pool)).toBe(1);
      await writer.query('commit');
      expect(await cancelling).toEqual({
        ids: [],
        left: [{ id: request?.id, reason: 'it is being applied right now' }],
      });
    });
  });

  test('that may have arrived cannot be cancelled, and is not said to be applied right now', async () => {
    const [request] = await ask({ commission_id: newId(), action: 'unpay' });
    const cancel = () =>
      cancelUpdates(db, { kind: 'requests', ids: [request?.id ?? 0] }, 'finance').then(({ left }) => left);
    // As a writer leaves it that was killed after it sent the change.
    await database.pool.query(
      `update commission_updates set put_sent_at = now(), claimed_by = 'w', claimed_until = now() + interval '1 minute'
       where id = $1`,
      [request?.id],
    );
    expect(await cancel()).toEqual([{ id: request?.id, reason: 'it is being applied right now' }]);
    await database.pool.query('update commission_updates set claimed_until = now() where id = $1', [
      request?.id,
    ]);
    expect(await cancel()).toEqual([
      {
        id: request?.id,
        reason: expect.stringMatching(/^its change may have reached the program already/),
      },
    ]);
  });
});

test('every column of the payment ledger is explained', async () => {
  const { rows } = await database.pool.query(
    `select format('%s.%s', c.relname, a.attname) as name
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relname in ('commission_updates', 'commission_update_attempts', 'commission_ledger', 'tracked_commissions')
       and a.attnum > 0 and not a.attisdropped and col_description(c.oid, a.attnum) is null`,
  );
  expect(rows).toEqual([]);
});

test('a connection that is lost during the commit leaves open whether the requests are queued, and that is said', async () => {
  await database.pool.query(`
    create function cut_off() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
    create constraint trigger cut_off after insert on commission_updates deferrable initially deferred
      for each row execute function cut_off()`);
  onTestFinished(async () => {
    await database.pool.query('drop trigger cut_off on commission_updates; drop function cut_off');
  });
  await expect(ask({ commission_id: newId(), action: 'unpay' })).rejects.toMatchObject({
    code: 'DB_UNREACHABLE',
    message: expect.stringMatching(/may be queued as b: "affiliate-mirror commissions status b" says so/),
  });
});
