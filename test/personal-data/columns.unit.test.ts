// That nobody forgets to say of a text whether it is about a person: one that is overlooked would be kept in every mode,
// and after the person was forgotten.

import { expect, test } from 'vitest';
import { PERSONAL_COLUMNS } from '../../src/personal-data/personal-columns.ts';
import { COLUMN_TYPES, type MirroredTable } from '../../src/records/mirrored-tables.ts';

/** Texts that are about nobody: identifiers of the program and of accounts, states, currencies, campaigns. */
const ABOUT_NOBODY: Readonly<Record<MirroredTable, readonly string[]>> = {
  campaigns: ['id', 'name', 'url'],
  affiliates: ['id', 'state', 'campaign_id'],
  links: ['id', 'affiliate_id'],
  referrals: [
    'id',
    'affiliate_id',
    'link_id',
    'processor_account_id',
    'conversion_state',
    'customer_platform',
  ],
  sales: ['id', 'referral_id', 'affiliate_id', 'currency', 'processor_account_id', 'processor_charge_id'],
  commissions: ['id', 'campaign_id', 'sale_id', 'currency', 'state'],
};

test.each(Object.keys(COLUMN_TYPES) as MirroredTable[])(
  'of every text of %s it is said whether it is personal: in personal-columns.ts, or here',
  (table) => {
    const texts = Object.entries(COLUMN_TYPES[table]).filter(([, type]) => ['text', 'jsonb'].includes(type));
    const said = [...Object.keys(PERSONAL_COLUMNS[table]), ...ABOUT_NOBODY[table]];
    expect(texts.map(([column]) => column).toSorted()).toEqual(said.toSorted());
  },
);
