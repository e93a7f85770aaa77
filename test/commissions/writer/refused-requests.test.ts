// A request whose own row Postgres refuses to write waits, or fails whoever waits for it, and holds up no other.

import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { awaitUpdates } from '../../../src/commissions/writer/await-updates.ts';
import { makeClaims } from '../../../src/commissions/writer/claims.ts';
import { drainUpdates } from '../../../src/commissions/writer/drain-updates.ts';
import { useRefusals } from './refusing-database.ts';
import { PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 20, referrals: 1200 });
const { addConstraint, addTrigger, takeAway, askToPay, statesOf } = useRefusals(writer);

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

    await takeAway();
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
    await takeAway();
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
    await takeAway();
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
    await takeAway();
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

    await takeAway();
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

  await takeAway();
  await database.pool.query('update commission_updates set claimed_until = now() where id = any($1)', [ids]);
  await drain();
  expect(await statesOf(ids)).toEqual(new Set(['applied']));
});
