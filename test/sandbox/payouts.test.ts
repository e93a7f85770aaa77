// Payouts (contract, Payouts), where the sandbox is asked to serve them and where it is not.

import { expect, it } from 'vitest';
import type { z } from 'zod';
import { payoutSchema } from '../../src/contract/payout.ts';
import { createTestDatabase } from '../support/database.ts';
import { fieldsOf, runSandbox } from './running-sandbox.ts';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool, { optionalLists: ['payouts'] });
const { program } = sandbox;

const read = async (id: string) => payoutSchema.parse(await sandbox.get(`/v1/payouts/${id}`));
const pay = async (id: string) => {
  const { status, text } = await sandbox.send('PUT', `/v1/payouts/${id}/pay`);
  return { status, body: JSON.parse(text) as unknown };
};
const arePaid = ({ commissions }: z.infer<typeof payoutSchema>) =>
  commissions?.every(({ paid_at }) => paid_at !== null);

it('are listed newest first, filtered by affiliate and state, and each is what its own address answers', async () => {
  const all = await sandbox.allPayouts('expand[]=affiliate&expand[]=commissions');
  const keys = all.map(({ created_at, id }) => `${created_at} ${id}`);
  expect(keys).toEqual(keys.toSorted().reverse());
  expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['pending', 'due', 'paid']));
  for (const payout of all.slice(0, 20)) expect(await read(payout.id)).toEqual(payout);
  const open = all.filter(({ state }) => state !== 'paid').map(({ id }) => id);
  expect((await sandbox.allPayouts('state[]=pending&state[]=due')).map(({ id }) => id)).toEqual(open);
  const { id } = all[0]?.affiliate ?? { id: '' };
  expect((await sandbox.allPayouts(`affiliate_id=${id}`)).map((one) => one.id)).toEqual(
    all.filter(({ affiliate }) => affiliate?.id === id).map((one) => one.id),
  );
  const [commission] = all[0]?.commissions ?? [];
  expect(fieldsOf(commission)).toEqual(
    [
      'amount',
      'created_at',
      'currency',
      'due_at',
      'id',
      'paid_at',
      'processor_account_id',
      'updated_at',
    ].sort(),
  );
});

it('a payout that is paid is processing, and later paid with its commissions; then it cannot be paid again', async () => {
  await program.setProcessing(30);
  const { id } = await program.insertPayout();
  expect(await pay(id)).toMatchObject({ status: 200, body: { state: 'processing', paid_at: null } });
  await expect.poll(async () => (await read(id)).state).toBe('paid');
  const paid = await read(id);
  expect(paid.commissions?.map(({ paid_at }) => paid_at)).toEqual(paid.commissions?.map(() => paid.paid_at));
  expect(paid.paid_by_id).not.toBeNull();
  const refused = { error: 'Could not pay payout', details: ['State is not due'] };
  expect(await pay(id)).toEqual({ status: 422, body: refused });
  const unknown = '00000000-0000-4000-8000-000000000000';
  expect(await pay(unknown)).toEqual({ status: 404, body: { error: `Payout not found: ${unknown}` } });
});

it('may be stuck in processing, and lose answers before and after; another client may pay or change it', async () => {
  await program.setProcessing(null);
  const stuck = await program.insertPayout();
  for (const [kind, state] of [
    ['reset', 'due'],
    ['reset-after', 'processing'],
  ] as const) {
    sandbox.setFaults({ shares: {}, exact: [{ kind, method: 'PUT', route: '/v1/payouts' }] });
    await expect(pay(stuck.id)).rejects.toThrow();
    expect((await read(stuck.id)).state).toBe(state);
  }
  expect(arePaid(await read(stuck.id))).toBe(false);
  expect(await program.finishPayout(stuck.id)).toBe(true);
  expect(arePaid(await read(stuck.id))).toBe(true);

  const other = await program.insertPayout();
  const before = await read(other.id);
  const due = await pool.query<{ id: string; amount: number }>(
    `select id, amount::float8 as amount from sandbox.commissions where state = 'due' and payout_id is null limit 1`,
  );
  const [added = { id: '', amount: 0 }] = due.rows;
  expect(await program.addToPayout(other.id, added.id)).toBe(true);
  const after = await read(other.id);
  expect(after.amount).toBe(before.amount + added.amount);
  expect(after.commissions?.map(({ id }) => id)).toContain(added.id);
  expect(await program.deletePayout(other.id)).toBe(true);
  expect((await sandbox.send('GET', `/v1/payouts/${other.id}`)).status).toBe(404);
});

it('a payout that is processing is paid after a restart, and none is served unless asked for', async () => {
  await program.setProcessing(1);
  const { id } = await program.insertPayout();
  await pay(id);
  const restarted = await runSandbox(pool, { optionalLists: ['payouts'] });
  await expect
    .poll(async () => payoutSchema.parse(await restarted.get(`/v1/payouts/${id}`)).state)
    .toBe('paid');
  const without = await runSandbox(pool);
  for (const path of ['/v1/payouts', `/v1/payouts/${id}`]) {
    expect((await without.send('GET', path)).status).toBe(404);
  }
});
