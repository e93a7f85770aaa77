// Which affiliates the program is asked for where referrals are missing, on rows that were loaded and marked directly.

import { beforeEach, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { findGoneAffiliates, findReferringAffiliate } from '../../src/mirror/gone-affiliates.ts';
import { markDeleted } from '../../src/mirror/mark-deleted.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildAffiliate, buildReferral } from './build-records.ts';
import { at, load } from './load.ts';

let db: Database;

beforeEach(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

const [gone, smaller, living, idle] = [
  buildAffiliate(),
  buildAffiliate(),
  buildAffiliate(),
  buildAffiliate(),
];

/** Loads a referral of each of the affiliates, and returns their identifiers. */
async function refer(...affiliates: readonly object[]): Promise<string[]> {
  const records = affiliates.map((affiliate) => buildReferral({ affiliate }));
  await load(db, { resource: 'referrals', pages: [{ observedAt: at(1), records }] });
  return records.map(({ id }) => id);
}

function bury(resource: 'affiliates' | 'referrals', ...ids: readonly string[]) {
  const input = { runId: null, resource, ids, observedAt: at(5) };
  return db.transaction().execute((trx) => markDeleted(trx, input));
}

test('the affiliates that are gone are named with those of the referrals in question, the largest first', async () => {
  const [one = '', two = '', three = '', ofLiving = '', notAsked = ''] = await refer(
    gone,
    smaller,
    gone,
    living,
    smaller,
  );
  await bury('affiliates', gone.id, smaller.id);
  expect(await findGoneAffiliates(db, [one, two, three, ofLiving])).toEqual([
    { affiliate_id: gone.id, referral_ids: [one, three].toSorted() },
    { affiliate_id: smaller.id, referral_ids: [two] },
  ]);
  expect(await findGoneAffiliates(db, [ofLiving])).toEqual([]);
  expect(await findGoneAffiliates(db, [notAsked])).toEqual([
    { affiliate_id: smaller.id, referral_ids: [notAsked] },
  ]);
});

test('a filter is tried on a living affiliate with a living referral besides those in question, or not at all', async () => {
  await load(db, { resource: 'affiliates', pages: [{ observedAt: at(1), records: [idle] }] });
  const [missing = '', ofGone = '', buried = ''] = await refer(living, gone, smaller);
  await bury('affiliates', gone.id);
  await bury('referrals', buried);
  expect(await findReferringAffiliate(db, [missing])).toBeNull();
  expect(await findReferringAffiliate(db, [ofGone])).toBe(living.id);
  const [another = ''] = await refer(living);
  expect(await findReferringAffiliate(db, [missing])).toBe(living.id);
  expect(await findReferringAffiliate(db, [missing, another])).toBeNull();
});
