// Whom the identifier of a customer leads to: the one of the payment processor, or of a platform of one's own.

import type pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PersonalDataSettings } from '../../src/config/personal-data.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { forgetPerson } from '../../src/personal-data/forget-person.ts';
import { makeTreatment } from '../../src/personal-data/make-treatment.ts';
import { switchMode } from '../../src/personal-data/switch-mode.ts';
import { buildReferral } from '../mirror/build-records.ts';
import { at, load } from '../mirror/load.ts';
import { createTestDatabase } from '../support/database.ts';
import { HASH, OMIT, PLAIN } from './marked-program.ts';
import { makeSyncs, type Syncs } from './syncs.ts';

const CUSTOMER = 'cus_Nffrze3uQqUd7u';
const UUID = 'C0000000-0000-4000-8000-00000000000C';

let pool: pg.Pool;
let db: Database;
let syncs: Syncs;

beforeEach(async () => {
  ({ pool } = await createTestDatabase());
  db = makeDatabase(pool);
  syncs = makeSyncs(db);
});

const forget = (who: string, settings: PersonalDataSettings = PLAIN) =>
  forgetPerson(db, settings, { who, by: 'privacy' });

const referral = (place: number, customer: string, email: string, processor: string | null = null) => ({
  id: `b0000000-0000-4000-8000-00000000000${place}`,
  processor_customer_id: processor,
  customer: { platform: 'stripe', id: customer, name: 'Maria Name', email },
});

/** Returns which referrals still have the identifier of their customer, or a name. */
async function stillThere(): Promise<number[]> {
  const { rows } = await pool.query<{ place: number }>(
    `select right(id, 1)::int as place from referrals
     where num_nonnulls(processor_customer_id, customer_id, customer_name, customer_email) > 0 order by 1`,
  );
  return rows.map(({ place }) => place);
}

describe.each([PLAIN, HASH, OMIT])('in mode $mode', (settings) => {
  test.each([CUSTOMER, UUID, '42'])(
    'the customer %s is forgotten and kept out, under one number',
    async (who) => {
      await switchMode(db, settings);
      syncs = makeSyncs(db, settings);
      await syncs.affiliate({ processor_customer_id: who, email: 'affiliate@people.example' });
      await syncs.referrals([
        referral(0, who, 'first@people.example'),
        referral(1, 'cus_before', 'second@people.example', who),
        referral(2, who, 'third@people.example'),
        referral(3, 'cus_other', 'first@people.example'),
        referral(4, 'cus_other', 'other@people.example'),
      ]);
      // Another customer by now.
      await syncs.referrals([referral(2, 'cus_later', 'third@people.example')]);
      const forgotten = await forget(who, settings);
      // Where there are addresses, they lead on, as those of a referral that is named do.
      const theirs = settings.mode === 'omit' ? [3, 4] : [4];
      expect(forgotten.records).toMatchObject({ affiliates: 1, referrals: 5 - theirs.length });
      expect(await stillThere()).toEqual(theirs);
      const { rows } = await pool.query('select email, processor_customer_id from affiliates');
      expect(rows).toEqual([{ email: null, processor_customer_id: null }]);
      const { number } = forgotten;
      expect(await forget(who, settings)).toMatchObject({ number, counts: new Map() });

      const treatment = makeTreatment(settings);
      const records = [referral(5, who, 'new@people.example'), referral(6, 'cus_new', 'new@people.example')];
      const pages = [{ observedAt: at(9), records: records.map(buildReferral) }];
      await load(db, { resource: 'referrals', pages, treatment });
      expect(await stillThere()).toEqual([...theirs, 6]);
      expect(await forget(who, settings)).toMatchObject({
        number,
        records: { referrals: 6 - theirs.length },
      });
    },
  );
});

test('the identifier of a customer is not looked for in texts, where a number may be any', async () => {
  await syncs.referrals([referral(0, '42', 'first@people.example')]);
  await pool.query(
    `insert into commission_updates (commission_id, action, reason)
     values (gen_random_uuid()::text, 'unpay', 'invoice 42 of first@people.example')`,
  );
  await forget('42');
  const { rows } = await pool.query('select reason from commission_updates');
  expect(rows).toEqual([{ reason: 'invoice 42 of [forgotten]' }]);
});

test.each(['cus_unknown', CUSTOMER.toUpperCase(), 'n/a'])(
  '%s is no customer, and is refused',
  async (who) => {
    await syncs.referrals([referral(0, CUSTOMER, 'n/a')]);
    await expect(forget(who)).rejects.toThrow(
      `${who} is neither an e-mail address nor the identifier of an affiliate, a referral or a customer in the mirror`,
    );
    expect(await stillThere()).toEqual([0]);
  },
);
