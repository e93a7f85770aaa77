// Deltas after whatever happened to the program, against the program itself: what a delta claims to see, it has seen.

import { afterAll, expect, test } from 'vitest';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { sized } from '../support/sizes.ts';
import { useSyncing } from './syncing.ts';

const ROUNDS = sized(4, 12);
const EVENTS = 30;
const given = useSyncing({ affiliates: sized(60, 120), referrals: sized(1200, 3000) });
afterAll(() => given().sandbox.live.stop());

type Row = Readonly<Record<string, unknown>>;

/** Of a referral, what moves a counter or never changes. */
const claimed = ({ id, created_at, affiliate_id, link_id, conversion_state }: Row) => ({
  id,
  created_at,
  affiliate_id,
  link_id,
  conversion_state,
});

test('a delta leaves the mirror equal to the program in everything that it claims to see, and the full sync in all', async () => {
  const { sandbox, syncBoth, database } = given();
  await syncBoth();
  const kinds = new Set<string>();
  let deltas = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let event = 0; event < EVENTS; event += 1) kinds.add((await sandbox.live.step()).kind);
    const [affiliates, referrals] = await syncBoth({ mode: 'delta' });
    expect([affiliates?.state, referrals?.state]).toEqual(['succeeded', 'succeeded']);
    if (referrals?.plan?.strategy === 'delta') deltas += 1;
    const [mirror, program] = [await readMirror(database.pool), await readProgram(sandbox)];
    const living = new Set(program.referrals.map(({ id }) => id));
    expect(mirror.referrals.filter(({ id }) => living.has(id)).map(claimed)).toEqual(
      program.referrals.map(claimed),
    );
    expect(mirror.affiliates).toEqual(program.affiliates);
    expect(mirror.links).toEqual(program.links);
  }
  // Otherwise the comparison above proves nothing.
  expect(deltas).toBeGreaterThan(ROUNDS / 2);
  expect([...kinds]).toEqual(expect.arrayContaining(['visit', 'lead', 'conversion', 'affiliate_joins']));

  await syncBoth({ acceptDeletes: true });
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});
