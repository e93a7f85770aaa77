// Direct loads, and marks as a sync makes them, at times that the tests choose.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { markUnnamedLinks } from '../../src/mirror/mark-deleted.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildAffiliate, buildLink, buildReferral } from './build-records.ts';
import { at, bury, load, rowsOf } from './load.ts';

let db: Database;

beforeEach(async () => {
  ({ db } = await createTestDatabase());
});

const affiliate = buildAffiliate();
const [kept, dropped] = [buildLink(), buildLink()];

/** Loads the affiliate with its links, as if it were the whole list. */
async function list(observedAt: string, links: readonly object[], of = affiliate): Promise<void> {
  const pages = [{ observedAt, records: [{ ...of, links }] }];
  const { met } = await load(db, { resource: 'affiliates', pages });
  await db.transaction().execute((trx) => markUnnamedLinks(trx, met.unnamedLinks));
}

/** Marks the referrals deleted, and returns every link that is marked by then, with its time. */
async function buryReferrals(observedAt: string, ...gone: readonly { id: string }[]) {
  const ids = gone.map(({ id }) => id);
  await bury(db, 'referrals', ids, observedAt);
  return goneLinks();
}

async function goneLinks() {
  const marked = (await rowsOf(db, 'links')).filter((row) => row['_deleted_at'] !== null);
  return new Map(marked.map((row) => [row['id'], row['_deleted_at']]));
}

test('a link that no known affiliate has goes with the last living referral that names it', async () => {
  const [shared, single, owned] = [buildLink(), buildLink(), buildLink()];
  const [first, last] = [buildReferral({ link: shared }), buildReferral({ link: shared })];
  const alone = buildReferral({ link: single });
  const ofAffiliate = buildReferral({ link: owned, affiliate: buildAffiliate() });
  const records = [first, last, alone, ofAffiliate];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records }] });
  expect(await buryReferrals(at(5), first, ofAffiliate)).toEqual(new Map());
  expect([...(await buryReferrals(at(5), alone)).keys()]).toEqual([single.id]);
  expect([...(await buryReferrals(at(5), last)).keys()].toSorted()).toEqual(
    [single.id, shared.id].toSorted(),
  );
});

test('a link that is gone is not brought back by a referral that still names it', async () => {
  await list(at(1), [dropped]);
  await list(at(2), []);
  const records = [buildReferral({ link: dropped })];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(3), records }] });
  expect([...(await goneLinks()).keys()]).toEqual([dropped.id]);
  await list(at(4), [dropped]);
  expect(await goneLinks()).toEqual(new Map());
});

test('a link that a referral of another affiliate names stays its own affiliate’s', async () => {
  await list(at(1), [kept]);
  const records = [buildReferral({ link: kept, affiliate: buildAffiliate() })];
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(2), records }] });
  expect(await rowsOf(db, 'links')).toMatchObject([{ id: kept.id, affiliate_id: affiliate.id }]);
});

test('an affiliate that was observed later than its deletion was confirmed keeps its links as well', async () => {
  await list(at(1), [kept]);
  const named = buildReferral({ link: null, affiliate: { ...affiliate, first_name: 'Renamed' } });
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(9), records: [named] }] });
  expect(await bury(db, 'affiliates', [affiliate.id], at(5))).toBe(0);
  expect(await rowsOf(db, 'affiliates')).toMatchObject([{ first_name: 'Renamed', _deleted_at: null }]);
  expect(await goneLinks()).toEqual(new Map());
});

test('a link that another affiliate names further down the list is that one’s, and was never gone', async () => {
  const other = buildAffiliate();
  await list(at(1), [dropped]);
  const page = (observedAt: string, record: object) =>
    load(db, { resource: 'affiliates', pages: [{ observedAt, records: [record] }] });
  const { met } = await page(at(2), { ...affiliate, links: [] });
  expect(met.unnamedLinks.map(({ id }) => id)).toEqual([dropped.id]);
  await page(at(3), { ...other, links: [dropped] });
  await db.transaction().execute((trx) => markUnnamedLinks(trx, met.unnamedLinks));
  expect(await rowsOf(db, 'links')).toMatchObject([{ affiliate_id: other.id, _deleted_at: null }]);
  const { rows } = await sql`select change from record_history where record_id = ${dropped.id}`.execute(db);
  expect(rows).toEqual([{ change: 'updated' }]);
});

test('an affiliate that names one link less loses that one alone, and others keep theirs', async () => {
  const other = buildLink();
  await list(at(1), [kept, dropped]);
  await list(at(1), [other], buildAffiliate());
  await list(at(2), [kept]);
  expect(await goneLinks()).toEqual(new Map([[dropped.id, '2026-07-01T00:00:02Z']]));
});

test('an older answer without a link does not mark it, one of the same moment or a newer one does', async () => {
  await list(at(5), [dropped]);
  await list(at(4), []);
  expect(await goneLinks()).toEqual(new Map());
  await list(at(5), []);
  expect(await goneLinks()).toEqual(new Map([[dropped.id, '2026-07-01T00:00:05Z']]));
});

test('a link of no known affiliate that was observed after its referral was found gone stays', async () => {
  const [link, later] = [buildLink(), buildReferral({ link: null })];
  const referral = buildReferral({ link });
  const listAt = (observedAt: string, record: object) =>
    load(db, { resource: 'referrals', pages: [{ observedAt, records: [record] }] });
  await listAt(at(1), referral);
  await listAt(at(7), { ...later, link: { ...link, visitors: 9 } });
  await listAt(at(8), later);
  expect(await buryReferrals(at(6), referral)).toEqual(new Map());
  expect(await buryReferrals(at(7), referral)).toEqual(new Map([[link.id, '2026-07-01T00:00:07Z']]));
});

test('a link that is marked keeps the time at which it was marked first', async () => {
  const referral = buildReferral();
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records: [referral] }] });
  const first = await buryReferrals(at(2), referral);
  expect(first).toEqual(new Map([[referral.link.id, '2026-07-01T00:00:02Z']]));
  expect(await buryReferrals(at(3), referral)).toEqual(first);
});
