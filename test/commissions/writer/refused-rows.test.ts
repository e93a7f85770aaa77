// What Postgres refuses fails the one request that it is about, and none beside or after it.

import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { trackCommissions } from '../../../src/commissions/tracking/track-commissions.ts';
import { pollTracked } from '../../../src/commissions/tracking/tracked-commissions.ts';
import { awaitUpdates } from '../../../src/commissions/writer/await-updates.ts';
import { makeClaims } from '../../../src/commissions/writer/claims.ts';
import { drainUpdates } from '../../../src/commissions/writer/drain-updates.ts';
import { transact } from '../../../src/db/transact.ts';
import { leaveOutTexts } from '../../../src/personal-data/rewrite-texts.ts';
import { makeAlteredApi, PAID_AT, type ProgramRow, silent, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });

/** What a database administrator added, to be taken away after the test. */
const added: string[] = [];

afterEach(async () => {
  for (const statement of added.splice(0).reverse()) await writer().database.pool.query(statement);
});

/** With `not valid` the rows that are there already stay, although they do not meet the condition. */
async function addConstraint(table: string, condition: string, validity = ''): Promise<void> {
  await writer().database.pool.query(
    `alter table ${table} add constraint added_by_dba check (${condition}) ${validity}`,
  );
  added.push(`alter table ${table} drop constraint added_by_dba`);
}

/** Has a trigger refuse the rows for which the condition holds, at the end of the transaction where `isLate`. */
async function addTrigger(
  table: string,
  condition: string,
  { errcode, isLate }: { errcode: string; isLate: boolean },
): Promise<void> {
  const { pool } = writer().database;
  await pool.query(`create function refuse_row() returns trigger language plpgsql as
    $$ begin raise exception 'the trigger refuses' using errcode = '${errcode}'; end $$`);
  await pool.query(`create constraint trigger refuse after insert or update on ${table}
    ${isLate ? 'deferrable initially deferred' : ''} for each row when (${condition}) execute function refuse_row()`);
  added.push('drop function refuse_row() cascade');
}

/**
 * Returns fresh commissions, the first of them with a referral that is neither another's nor in the mirror yet.
 */
async function freshWithPoisoned(count: number) {
  const { freshMany, database } = writer();
  const commissions = await freshMany(count);
  const { rows } = await database.pool.query<{ id: string; referral_id: string }>(
    `select min(co.id) as id, referral_id
     from program.commissions co join program.sales sale on co.sale_id = sale.id
     where co.id = any($1) and not exists (select from referrals where id = referral_id)
     group by referral_id having count(*) = 1 order by 1`,
    [commissions.map(({ id }) => id)],
  );
  const poisoned = commissions.find(({ id }) => id === rows[0]?.id);
  if (poisoned === undefined) throw new Error('every referral is mirrored already');
  const others = commissions.filter((commission) => commission !== poisoned);
  return { poisoned, others, commissions: [poisoned, ...others], referralId: rows[0]?.referral_id };
}

async function askToPay(commissions: readonly ProgramRow[]): Promise<number[]> {
  const asked = await writer().ask(
    ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
  );
  return asked.map(({ id }) => id);
}

async function rejectionsOf(id: string | undefined, resource = 'commissions') {
  const { rows } = await writer().database.pool.query<{
    run_id: number | null;
    reason: string;
    payload: object;
    observed_at: string;
  }>(
    `select run_id, reason, payload, observed_at::text from rejected_records where resource = $2 and record_id = $1`,
    [id, resource],
  );
  return rows;
}

async function mirroredAmong(commissions: readonly ProgramRow[]): Promise<number> {
  const { rows } = await writer().database.pool.query<{ mirrored: number }>(
    'select count(*) as mirrored from commissions where id = any($1) and paid_at = $2',
    [commissions.map(({ id }) => id), PAID_AT],
  );
  return rows[0]?.mirrored ?? 0;
}

async function statesOf(ids: readonly number[]): Promise<Set<string>> {
  const rows = await Promise.all(ids.map((id) => writer().row(id)));
  return new Set(rows.map(({ state }) => state));
}

describe('a row that the mirror cannot hold', () => {
  test('is rejected with its reason; its payment and the 39 others end as applied, each sent once', async () => {
    const { drain, row, received, program } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(40);
    await addConstraint('referrals', `id <> '${referralId}'`);
    const [first, ...rest] = await askToPay(commissions);

    expect(await drain({ concurrency: 24 })).toEqual({ ended: { applied: 40 }, deferred: 0 });

    expect(received('PUT').length).toBe(40);
    expect(await row(first)).toMatchObject({
      state: 'applied',
      attempts: 0,
      after: { paid_at: '2026-10-05T12:00:00.000Z' },
      note: expect.stringMatching(/the mirror could not take over .*rejected_records.*added_by_dba/),
    });
    expect((await program(poisoned?.id ?? '')).paid_at).toBe('2026-10-05T12:00:00.000Z');
    expect(await rejectionsOf(poisoned?.id)).toMatchObject([
      {
        run_id: null,
        reason: expect.stringContaining('added_by_dba'),
        payload: { id: poisoned?.id, sale: { referral: { id: referralId } } },
      },
    ]);
    expect(await mirroredAmong(others)).toBe(39);
    for (const id of rest) expect(await row(id)).toMatchObject({ state: 'applied', note: null });
  });

  test('is rejected also where only the end of the transaction refuses it', async () => {
    const { drain, row, received } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(5);
    const condition = `new.id = '${referralId}'`;
    await addTrigger('referrals', condition, { errcode: 'P0001', isLate: true });
    const [first] = await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 5 } });
    expect(received('PUT').length).toBe(5);
    expect((await row(first)).note).toContain('the trigger refuses');
    expect(await rejectionsOf(poisoned?.id)).toMatchObject([{ reason: 'the trigger refuses' }]);
    expect(await mirroredAmong(others)).toBe(4);
  });

  test('is quoted in the note, which is left out where nothing is to be quoted any more', async () => {
    const { drain, row, db } = writer();
    const { commissions, referralId } = await freshWithPoisoned(1);
    await addConstraint('referrals', `id <> '${referralId}'`);
    const [first] = await askToPay(commissions);
    await drain();
    expect((await row(first)).note).toContain('added_by_dba');
    await transact(db, (trx) => leaveOutTexts(trx, '(left out)', new Map()));
    expect(await row(first)).toMatchObject({ note: '(left out)', outcome: expect.stringContaining('paid') });
  });

  test('is rejected with its own fields alone where Postgres refuses the whole record there too', async () => {
    const { drain } = writer();
    const { poisoned, commissions, referralId } = await freshWithPoisoned(5);
    await addConstraint('referrals', `id <> '${referralId}'`);
    await addTrigger('rejected_records', `new.payload -> 'sale' is not null`, {
      errcode: 'P0001',
      isLate: false,
    });
    await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 5 } });
    const [rejection] = await rejectionsOf(poisoned.id);
    expect(rejection?.payload).toMatchObject({ id: poisoned.id, paid_at: '2026-10-05T12:00:00.000Z' });
    expect(rejection?.payload).not.toHaveProperty('sale');
    expect(rejection?.reason).toContain('added_by_dba');
  });

  test('leaves the payment applied even where its rejection is refused too', async () => {
    const { drain, row } = writer();
    const { others, commissions, referralId } = await freshWithPoisoned(3);
    const { pool } = writer().database;
    await pool.query('alter table rejected_records rename to rejected_records_away');
    added.push('alter table rejected_records_away rename to rejected_records');
    await addConstraint('referrals', `id <> '${referralId}'`);
    const [first] = await askToPay(commissions);
    expect(await drain()).toMatchObject({ ended: { applied: 3 } });
    expect((await row(first)).note).toMatch(/the mirror could not take over [^(]*added_by_dba/);
    expect(await mirroredAmong(others)).toBe(2);
  });

  for (const nested of ['commissions', 'referrals'] as const) {
    test(`(its identifier in ${nested} has another case than before) is rejected by itself, and makes no second row`, async () => {
      const { ask, drain, row, sandbox, db, received, database } = writer();
      const { poisoned, commissions, referralId } = await freshWithPoisoned(3);
      const known = nested === 'commissions' ? poisoned?.id : referralId;
      await ask({ commission_id: poisoned?.id ?? '', action: 'due', due_at: '2026-12-01T00:00:00Z' });
      await drain();
      const api = await makeAlteredApi({ db, sandbox }, (body) =>
        body.replaceAll(known ?? '', String(known?.toUpperCase())),
      );
      const [first, ...rest] = await askToPay(commissions);
      const summary = await drainUpdates(
        { api, db, log: silent },
        { concurrency: 3, signal: AbortSignal.timeout(100_000) },
      );
      expect(summary).toEqual({ ended: { applied: 3 }, deferred: 0 });
      expect(received('PUT').length).toBe(4);
      expect((await row(first)).note).toContain(`${known} in the mirror`);
      expect(await statesOf(rest)).toEqual(new Set(['applied']));
      const { rows } = await database.pool.query(`select id from ${nested} where lower(id) = $1`, [known]);
      expect(rows).toEqual([{ id: known }]);
      const rejectedAs = nested === 'commissions' ? known?.toUpperCase() : poisoned?.id;
      expect(await rejectionsOf(rejectedAs)).toMatchObject([
        { run_id: null, reason: expect.stringMatching(/another case: .* would become a second row/) },
      ]);
    });
  }

  for (const [shape, open, close] of [
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ] as const) {
    for (const depth of [8_000, 50_000]) {
      test(`(${shape} ${depth} deep) is rejected by itself; its payment and its neighbours end as applied`, async () => {
        const { row, sandbox, db, received } = writer();
        const { poisoned, commissions, referralId } = await freshWithPoisoned(6);
        const deep = `"deep":${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`;
        const api = await makeAlteredApi({ db, sandbox }, (body) =>
          body.includes(`"id":"${poisoned?.id}"`) || body.includes(`"id" : "${poisoned?.id}"`)
            ? body.replace(/"referral"\s*:\s*\{/, (found) => `${found}${deep},`)
            : body,
        );
        const [first, ...rest] = await askToPay(commissions);
        const summary = await drainUpdates(
          { api, db, log: silent },
          { concurrency: 6, signal: AbortSignal.timeout(100_000) },
        );
        expect(summary).toEqual({ ended: { applied: 6 }, deferred: 0 });
        expect(received('PUT').length).toBe(6);
        expect(await row(first)).toMatchObject({ state: 'applied', attempts: 0 });
        expect(await statesOf(rest)).toEqual(new Set(['applied']));
        expect(await rejectionsOf(referralId, 'referrals')).toMatchObject([{ run_id: null }]);
        expect(await mirroredAmong(commissions)).toBe(6);
      });
    }
  }
});

test('an answer nested too deeply to be read costs its own request tries, and no other one anything', async () => {
  const { freshMany, row, sandbox, db } = writer();
  const commissions = await freshMany(6);
  const poisoned = commissions[0]?.id ?? '';
  const deep = `"link":${'{"link":'.repeat(50_000)}null${'}'.repeat(50_000)}`;
  const api = await makeAlteredApi({ db, sandbox }, (body) =>
    body.includes(poisoned) ? body.replace(/"link"\s*:\s*(null|\{[^}]*\})/, deep) : body,
  );
  const [first, ...rest] = await askToPay(commissions);
  const drain = () => writer().drain({ api, concurrency: 6 });
  await drain();
  expect(await statesOf(rest)).toEqual(new Set(['applied']));
  await expect
    .poll(async () => {
      await drain();
      return (await row(first)).state;
    })
    .not.toBe('pending');
  // However it ended, the program and the payment ledger agree about it.
  const { state } = await row(first);
  const { paid_at } = await writer().program(poisoned);
  expect([state, paid_at === null]).toBeOneOf([
    ['failed', true],
    ['applied', false],
  ]);
});

describe('a request whose row breaks a constraint that was added later', () => {
  test('stays pending, and the 10 others end as applied, also those behind it', async () => {
    const { freshMany, drain, row, received } = writer();
    const commissions = await freshMany(12);
    const [first, second, ...rest] = await askToPay(commissions);
    const broken = [first, second].join(', ');
    await addConstraint('commission_updates', `id not in (${broken})`, 'not valid');
    const refused = new Map<number, string>();
    // One at a time, so that the oldest fill every claim.
    const summary = await drain({
      concurrency: 1,
      onRefused: (id, error) => refused.set(id, error.message),
    });
    expect(summary).toEqual({ ended: { applied: 10 }, deferred: 2 });
    expect(await statesOf(rest)).toEqual(new Set(['applied']));
    expect([...refused.keys()]).toEqual([first, second]);
    expect(refused.get(first ?? 0)).toContain('added_by_dba');
    expect(received('PUT').length).toBe(10);

    for (const statement of added.splice(0)) await writer().database.pool.query(statement);
    expect(await drain()).toEqual({ ended: { applied: 2 }, deferred: 0 });
    expect((await row(first)).state).toBe('applied');
  });

  test('fails whoever waits for it, after the others', async () => {
    const { freshMany, api, db } = writer();
    const ids = await askToPay(await freshMany(5));
    await addConstraint('commission_updates', `id <> ${ids[0]}`, 'not valid');
    const waiting = awaitUpdates({ api, db, log: silent }, ids, {
      concurrency: 2,
      signal: AbortSignal.timeout(100_000),
    });
    await expect(waiting).rejects.toThrow('added_by_dba');
    expect(await statesOf(ids.slice(1))).toEqual(new Set(['applied']));
    for (const statement of added.splice(0)) await writer().database.pool.query(statement);
    await writer().drain();
  });

  test('fails whoever waits for a later one of its commission, which has to wait for it', async () => {
    const { freshMany, ask, api, db, row } = writer();
    const [commission, other] = await freshMany(2);
    const pay = { commission_id: commission?.id ?? '', action: 'pay' as const, paid_at: PAID_AT };
    const [broken] = await ask(pay);
    const later = await ask(
      { ...pay, action: 'due', paid_at: null, due_at: PAID_AT },
      { ...pay, commission_id: other?.id ?? '' },
    );
    await addConstraint('commission_updates', `id <> ${broken?.id}`, 'not valid');
    const waiting = awaitUpdates(
      { api, db, log: silent },
      later.map(({ id }) => id),
      { concurrency: 2, signal: AbortSignal.timeout(20_000) },
    );
    await expect(waiting).rejects.toThrow('added_by_dba');
    expect((await row(later[1]?.id)).state).toBe('applied');
    for (const statement of added.splice(0)) await writer().database.pool.query(statement);
    await writer().drain();
  });

  test('fails nobody who waits for others, also where that takes longer', async () => {
    const { freshMany, api, db, database } = writer();
    const [broken, ...ids] = await askToPay(await freshMany(3));
    const claim = (until: string) =>
      database.pool.query(
        `update commission_updates set claimed_by = 'another', claimed_until = ${until} where id = $1`,
        [ids[0]],
      );
    await claim(`now() + interval '1 hour'`);
    await addConstraint('commission_updates', `id <> ${broken}`, 'not valid');
    let looks = 0;
    const waiting = awaitUpdates({ api, db, log: silent }, ids, {
      concurrency: 2,
      signal: AbortSignal.timeout(100_000),
      onProgress: () => {
        looks += 1;
        // By then all that could be claimed was: the broken one was refused.
        if (looks === 5) void claim('now()');
      },
    });
    expect(await waiting).toEqual({ applied: 2 });
    for (const statement of added.splice(0)) await database.pool.query(statement);
    await writer().drain();
  });

  test('lets the claims of others be extended and given up', async () => {
    const { freshMany, db, database } = writer();
    const ids = await askToPay(await freshMany(3));
    const claims = makeClaims(db, { name: 'extending', claimMs: 60_000, onRefused: () => {} });
    expect((await claims.claim(3)).map(({ id }) => id)).toEqual(ids);
    await addConstraint('commission_updates', `id <> ${ids[1]}`, 'not valid');
    const claimedUntil = async () => {
      const { rows } = await database.pool.query<{ until: string | null }>(
        'select claimed_until::text as until from commission_updates where id = any($1) order by id',
        [ids],
      );
      return rows.map(({ until }) => until);
    };
    const before = await claimedUntil();
    await claims.extend();
    const after = await claimedUntil();
    expect(after.map((until, index) => until === before[index])).toEqual([false, true, false]);
    await claims.release(ids);
    expect((await claimedUntil()).map((until) => until === null)).toEqual([true, false, true]);

    for (const statement of added.splice(0)) await database.pool.query(statement);
    await claims.release(ids);
    expect(await writer().drain()).toEqual({ ended: { applied: 3 }, deferred: 0 });
  });
});

test('a drain that is stopped says why, also where the database then takes no claims back', async () => {
  const { freshMany, db, api, database, drain } = writer();
  const ids = await askToPay(await freshMany(12));
  // Not a refusal of a row: an error of the server.
  await addTrigger('commission_updates', `new.state = 'pending' and new.claimed_by is null`, {
    errcode: 'insufficient_resources',
    isLate: false,
  });
  const stopping = new AbortController();
  const stopped = new Error('the worker stops');
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  let ended = 0;
  const onEnd = () => {
    ended += 1;
    if (ended === 3) stopping.abort(stopped);
  };
  const drained = drainUpdates({ api, db, log }, { concurrency: 4, signal: stopping.signal, onEnd });
  await expect(drained).rejects.toBe(stopped);
  expect(lines.join('')).toContain('commissions.claims_not_released');

  for (const statement of added.splice(0)) await database.pool.query(statement);
  await database.pool.query('update commission_updates set claimed_until = now() where id = any($1)', [ids]);
  await drain();
  expect(await statesOf(ids)).toEqual(new Set(['applied']));
});

describe('a line of the payment ledger that is refused', () => {
  test('waits with its reason and is overtaken, ends as failed in the end, and is sent once', async () => {
    const { freshMany, ask, drain, row, received, program } = writer();
    const commissions = await freshMany(8);
    const poisoned = commissions[0]?.id ?? '';
    await addConstraint('commission_updates', `commission_id <> '${poisoned}' or state <> 'applied'`);
    const [first, ...rest] = await askToPay(commissions);
    // The oldest request of a commission goes first, so this one waits for the poisoned one.
    const [later] = await ask({ commission_id: poisoned, action: 'due', due_at: '2026-12-01T00:00:00Z' });

    // A long wait, so that one drain sees it once.
    const slow = { timing: { claimMs: 5000, firstBackoffMs: 60_000 } };
    expect(await drain({ concurrency: 8, ...slow })).toEqual({ ended: { applied: 7 }, deferred: 1 });
    expect(await statesOf(rest)).toEqual(new Set(['applied']));
    const reason =
      /refused to note that it ended as applied \(marked paid at 2026-10-05T12:00:00Z\): .*added_by_dba/;
    expect(await row(first)).toMatchObject({
      state: 'pending',
      attempts: 1,
      claimed_by: null,
      last_error: expect.stringMatching(reason),
    });
    expect((await row(first)).put_sent_at).not.toBeNull();
    expect((await row(later?.id)).state).toBe('pending');

    const { pool } = writer().database;
    let failed = 0;
    while (failed === 0) {
      await pool.query('update commission_updates set next_attempt_at = now() where id = $1', [first]);
      failed = (await drain()).ended.failed ?? 0;
    }
    expect(await row(first)).toMatchObject({
      state: 'failed',
      attempts: 12,
      outcome: expect.stringMatching(reason),
    });
    expect((await program(poisoned)).paid_at).toBe('2026-10-05T12:00:00.000Z');
    await drain();
    // It may never be noted as applied; that it is reached at all is what counts.
    expect((await row(later?.id)).attempts).toBeGreaterThan(0);
    expect(received('PUT').filter(({ url }) => url.includes(poisoned)).length).toBe(2);
    await pool.query(
      `update commission_updates set state = 'cancelled', outcome = 'test', finished_at = now() where id = $1`,
      [later?.id],
    );
  });

  test('before its PUT keeps that PUT from being sent, and no other', async () => {
    const { freshMany, drain, row, received } = writer();
    const commissions = await freshMany(8);
    const ids = await askToPay(commissions);
    await addConstraint('commission_update_attempts', `method <> 'PUT' or update_id <> ${ids[3]}`);
    let failed = 0;
    let applied = 0;
    while (failed === 0) {
      const { ended } = await drain({ concurrency: 8 });
      failed = ended.failed ?? 0;
      applied += ended.applied ?? 0;
    }
    expect(applied).toBe(7);
    expect(received('PUT').length).toBe(7);
    expect(await row(ids[3])).toMatchObject({
      state: 'failed',
      attempts: 12,
      put_sent_at: null,
      outcome: expect.stringMatching(/refused to note that the change is to be sent: .*added_by_dba/),
    });
  });

  test('for a reason that is no row’s own ends the drain, and costs no attempt', async () => {
    const { freshMany, drain, row } = writer();
    const commissions = await freshMany(4);
    const ids = await askToPay(commissions);
    // query_canceled: what a statement timeout says.
    await addTrigger('commission_updates', `new.state = 'applied'`, { errcode: '57014', isLate: false });
    await expect(drain({ concurrency: 4 })).rejects.toMatchObject({ code: '57014' });
    for (const id of ids) expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0 });
    for (const statement of added.splice(0)) await writer().database.pool.query(statement);
    // What was claimed can be claimed again when the claim has ended.
    await expect
      .poll(async () => {
        await drain();
        return statesOf(ids);
      })
      .toEqual(new Set(['applied']));
  });

  test('fails without the lines of its requests where those are refused too, once it was tried often enough', async () => {
    const { freshMany, drain, row, database } = writer();
    const [id] = await askToPay(await freshMany(1));
    await addConstraint('commission_update_attempts', `update_id <> ${id} or status is null`);
    await database.pool.query('update commission_updates set attempts = 11 where id = $1', [id]);
    expect((await drain()).ended).toEqual({ failed: 1 });
    expect(await row(id)).toMatchObject({
      state: 'failed',
      attempts: 12,
      claimed_by: null,
      outcome: expect.stringMatching(/refused to note that it ended as applied .*added_by_dba/),
    });
  });

  test('stays pending and free for others where its end and its requests are refused', async () => {
    const { freshMany, drain, row, database } = writer();
    const [id] = await askToPay(await freshMany(1));
    await addConstraint('commission_update_attempts', `update_id <> ${id} or status is null`);
    await addTrigger('commission_updates', `new.id = ${id} and new.state = 'failed'`, {
      errcode: 'P0001',
      isLate: false,
    });
    await database.pool.query('update commission_updates set attempts = 11 where id = $1', [id]);
    expect(await drain()).toEqual({ ended: {}, deferred: 1 });
    expect(await row(id)).toMatchObject({
      state: 'pending',
      claimed_by: null,
      last_error: expect.stringContaining('added_by_dba'),
    });
    for (const statement of added.splice(0).reverse()) await database.pool.query(statement);
    await database.pool.query('update commission_updates set next_attempt_at = now() where id = $1', [id]);
    expect((await drain()).ended).toEqual({ applied: 1 });
  });

  test('is written without what was read where that is what is refused', async () => {
    const { freshMany, ask, drain, row } = writer();
    const [commission] = await freshMany(1);
    const [asked] = await ask({ commission_id: commission?.id ?? '', action: 'unpay' });
    await addConstraint('commission_updates', `id <> ${asked?.id} or before is null`);
    expect(await drain({ timing: { claimMs: 5000, firstBackoffMs: 60_000 } })).toEqual({
      ended: {},
      deferred: 1,
    });
    expect(await row(asked?.id)).toMatchObject({
      state: 'pending',
      claimed_by: null,
      before: null,
      last_error: expect.stringMatching(/refused to note that it ended as unchanged .*added_by_dba/),
    });
    for (const statement of added.splice(0)) await writer().database.pool.query(statement);
    await writer().database.pool.query('update commission_updates set next_attempt_at = now()');
    expect((await drain()).ended).toEqual({ unchanged: 1 });
  });
});

test('a request that cannot be read fails by itself, and each of its requests is in the table of attempts', async () => {
  const { freshMany, attempts, drain, row, database } = writer();
  const ids = await askToPay(await freshMany(3));
  await database.pool.query(
    `alter table commission_updates disable trigger keep_request;
     update commission_updates set paid_at = 'infinity' where id = ${ids[1]};
     alter table commission_updates enable trigger keep_request`,
  );
  const slow = { timing: { claimMs: 5000, firstBackoffMs: 60_000 } };
  expect(await drain(slow)).toEqual({ ended: { applied: 2 }, deferred: 1 });
  expect(await row(ids[1])).toMatchObject({ state: 'pending', attempts: 1 });
  expect(await attempts(ids[1])).toMatchObject([{ method: 'GET', status: 200, error: null }]);
  await database.pool.query(
    `update commission_updates set state = 'cancelled', outcome = 'test', finished_at = now() where id = $1`,
    [ids[1]],
  );
});

describe('the poller', () => {
  test('mirrors the neighbours of a row that the mirror cannot hold, and says once what is wrong with it, by its newest answer', async () => {
    const { db, api, database } = writer();
    const { poisoned, others, commissions, referralId } = await freshWithPoisoned(25);
    await addConstraint('referrals', `id <> '${referralId}'`);
    const ids = commissions.map(({ id }) => id);
    await trackCommissions(db, ids, null);
    const poll = () =>
      pollTracked({ client: api, db, log: silent }, { concurrency: 8, signal: AbortSignal.timeout(100_000) });
    // The poisoned one first of all.
    await database.pool.query(
      `update tracked_commissions set next_poll_at = now() - interval '1 day' where commission_id = $1`,
      [poisoned?.id],
    );
    expect(await poll()).toMatchObject({ polled: 24, failed: 1 });
    const before = await rejectionsOf(poisoned?.id);
    const mirrored = await database.pool.query(
      'select count(*) as here from commissions where id = any($1)',
      [others.map(({ id }) => id)],
    );
    expect(mirrored.rows).toEqual([{ here: 24 }]);
    const tracked = () =>
      database.pool.query(
        `select last_error, last_polled_at is not null as was_answered, next_poll_at > now() as waits
         from tracked_commissions where commission_id = $1`,
        [poisoned?.id],
      );
    expect((await tracked()).rows).toMatchObject([
      { last_error: expect.stringContaining('added_by_dba'), was_answered: true, waits: true },
    ]);
    await database.pool.query(
      'update tracked_commissions set next_poll_at = now() where commission_id = $1',
      [poisoned?.id],
    );
    expect(await poll()).toMatchObject({ polled: 0, failed: 1 });
    const again = await rejectionsOf(poisoned?.id);
    expect(again.length).toBe(1);
    expect(again[0]?.observed_at).not.toBe(before[0]?.observed_at);

    for (const statement of added.splice(0)) await database.pool.query(statement);
    await database.pool.query(
      'update tracked_commissions set next_poll_at = now() where commission_id = $1',
      [poisoned?.id],
    );
    expect(await poll()).toMatchObject({ polled: 1, failed: 0 });
    expect((await tracked()).rows).toMatchObject([{ last_error: null }]);
  });
});
