// Dry runs and comparisons with the books: what they make of a commission that the program refuses to show.

import { expect, onTestFinished, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { reconcileBooks } from '../../src/payments/books/reconcile-books.ts';
import { pollTracked } from '../../src/payments/poll/tracked-commissions.ts';
import { previewUpdates } from '../../src/payments/preview-updates.ts';
import { plainRequest } from '../../src/payments/update-request.ts';
import { applyUpdates } from '../../src/payments/write/apply-updates.ts';
import { inCapitals } from '../support/in-capitals.ts';
import {
  losingProgram,
  makeAlteredApi,
  makeTestApi,
  PAID_AT,
  type ProgramRow,
  silent,
  useWriter,
} from './write/start-writer.ts';

const writer = useWriter();
const reading = () => ({ concurrency: 2, signal: AbortSignal.timeout(100_000) });

const payments = (commissions: readonly ProgramRow[]) =>
  commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT }));

const preview = (client: ApiClient, commissions: readonly ProgramRow[]) =>
  Array.fromAsync(
    previewUpdates({ client, db: writer().db }, payments(commissions).map(plainRequest), reading()),
  );

const reconcile = (client: ApiClient, commissions: readonly ProgramRow[]) => {
  const books = commissions.map(({ id, amount, currency }, index) => {
    return { line: index + 2, commission_id: id, paid_at: null, amount, currency };
  });
  return Array.fromAsync(reconcileBooks({ client, db: writer().db }, books, { others: [], ...reading() }));
};

test('a wrong address, which answers 404 to everything, is neither previewed nor compared', async () => {
  const { freshMany, db, sandbox } = writer();
  const commissions = await freshMany(2);
  const astray = makeTestApi(db, `${sandbox.url}/elsewhere`);
  onTestFinished(() => astray.close());
  await expect(preview(astray, commissions)).rejects.toMatchObject({ code: 'API_REJECTED', status: 404 });
  await expect(reconcile(astray, commissions)).rejects.toMatchObject({ code: 'API_REJECTED', status: 404 });
});

test('a front end that loses the program ends both, and says that it is down', async () => {
  const { freshMany, db, sandbox } = writer();
  const commissions = await freshMany(8);
  for (const read of [preview, reconcile]) {
    const front = losingProgram(db, sandbox.url, { from: 4, to: 1000 });
    onTestFinished(async () => void (await front.close()));
    await expect(read(front.api, commissions)).rejects.toThrow('the API is down');
  }
});

test('a commission that the program refuses costs no other, and ends in the dry run as it does when applied', async () => {
  const { freshMany, ask, row, db, sandbox } = writer();
  const commissions = await freshMany(4);
  const [gone, refused] = commissions.map(({ id }) => id);
  const api = await makeAlteredApi({ db, sandbox }, (body, path) => {
    if (path.endsWith(gone ?? '')) return { status: 410, body: '{"error":"Gone"}' };
    if (path.endsWith(refused ?? ''))
      return { status: 422, body: '{"error":"No","details":["Not this one"]}' };
    return body;
  });

  const previewed = await preview(api, commissions);
  expect(previewed.map(({ would }) => would)).toEqual(['not_found', 'rejected', 'change', 'change']);
  const compared = await reconcile(api, commissions);
  expect(compared.map(({ finding }) => finding)).toEqual(['unknown', 'refused', 'match', 'match']);

  const asked = await ask(...payments(commissions));
  await applyUpdates({ api, db, log: silent }, reading());
  for (const [index, { id }] of asked.slice(0, 2).entries()) {
    const { would, outcome } = previewed[index] ?? {};
    expect(await row(id)).toMatchObject({ state: would, outcome });
  }
  // The reason is there once.
  expect(previewed[1]?.outcome?.match(/Not this one/g)).toHaveLength(1);
});

test('a commission that the program fails on costs no other, and is reported as one that cannot be read', async () => {
  const { freshMany, db, sandbox } = writer();
  const commissions = await freshMany(5);
  const [failing, odd, blocked] = commissions.map(({ id }) => id);
  const api = await makeAlteredApi({ db, sandbox }, (body, path) => {
    if (path.endsWith(failing ?? '')) return { status: 500, body: '{"error":"Oops"}' };
    if (path.endsWith(blocked ?? '')) return { status: 404, body: '<h1>Not Found</h1>' };
    return path.endsWith(odd ?? '') ? body.replace('"amount"', '"sum"') : body;
  });
  const previewed = await preview(api, commissions);
  expect(previewed.map(({ would }) => would)).toEqual(['failed', 'failed', 'failed', 'change', 'change']);
  expect(previewed[0]?.outcome).toMatch(/the API failed on GET .*\(500\)/);
  expect(previewed[1]?.outcome).toMatch(/is not what the contract says/);
  expect(previewed[2]?.outcome).toMatch(/\(404, with a web page\)/);
  const compared = await reconcile(api, commissions);
  expect(compared.map(({ finding }) => finding)).toEqual([
    ...['unreadable', 'unreadable', 'unreadable'],
    ...['match', 'match'],
  ]);
});

test('where the program fails on one commission after the other, both end', async () => {
  const { freshMany, db, sandbox } = writer();
  const commissions = await freshMany(12);
  const asked = new Set<string>();
  const api = await makeAlteredApi({ db, sandbox }, (body, path) => {
    if (!path.includes('/commissions/')) return body;
    asked.add(path);
    return { status: 500, body: '{"error":"Oops"}' };
  });
  for (const read of [preview, reconcile]) {
    asked.clear();
    await expect(read(api, commissions)).rejects.toMatchObject({ code: 'API_UNAVAILABLE' });
    expect(asked.size).toBeLessThan(12);
  }
});

test('a commission whose identifiers the API answers in capitals is asked for, polled and paid by its one row', async () => {
  const { freshMany, ask, row, program, db, database, sandbox } = writer();
  const commissions = await freshMany(1);
  const id = commissions[0]?.id ?? '';
  const api = await makeAlteredApi({ db, sandbox }, (body) => inCapitals(body));

  expect(await preview(api, commissions)).toMatchObject([{ would: 'change' }]);
  expect(await reconcile(api, commissions)).toMatchObject([{ commission_id: id, finding: 'match' }]);
  await database.pool.query('insert into tracked_commissions (commission_id) values ($1)', [
    id.toUpperCase(),
  ]);
  expect(await pollTracked({ client: api, db, log: silent }, reading())).toEqual({
    polled: 1,
    gone: 0,
    failed: 0,
  });
  const [request] = await ask({ commission_id: id.toUpperCase(), action: 'pay', paid_at: PAID_AT });
  await applyUpdates({ api, db, log: silent }, reading());

  expect(await row(request?.id)).toMatchObject({ commission_id: id, state: 'applied', note: null });
  expect((await program(id)).paid_at).toBe('2026-10-05T12:00:00.000Z');
  const { rows } = await database.pool.query(
    `select commission.id, commission.paid_at, commission._deleted_at,
       (select count(*) from sales where lower(id) = lower(commission.sale_id)) as sales,
       sale.referral_id = lower(sale.referral_id) and sale.affiliate_id = lower(sale.affiliate_id) as is_lower
     from commissions commission join sales sale on sale.id = commission.sale_id
     where lower(commission.id) = $1`,
    [id],
  );
  expect(rows).toEqual([{ id, paid_at: PAID_AT, _deleted_at: null, sales: 1, is_lower: true }]);
});
