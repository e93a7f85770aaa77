// Records as live deployments send them: every field that was seen in the wild, in both spellings of the
// names, and times as they are written there.

import { expect, test } from 'vitest';
import { toContractSpelling } from '../../src/contract/wire-aliases.ts';
import { makeDriftWatch } from '../../src/decode/drift-watch.ts';
import { COLUMN_NAMES } from '../../src/decode/mirrored-tables.ts';
import { readPlain } from '../../src/decode/plain-reader.ts';
import { inLiveSpelling } from '../contract/arbitrary-records.ts';
import {
  buildAffiliate,
  buildCampaign,
  buildCommission,
  buildReferral,
  buildSale,
} from '../mirror/build-records.ts';

const COUPON = {
  id: '5d0c1c4e-7a54-4c1e-9c1b-0d5b6f6f7a11',
  token: 'ADA20',
  external_id: 'promo_1',
  archived: true,
  archived_at: '2026-01-31T09:30+0000',
  affiliate_id: '5d0c1c4e-7a54-4c1e-9c1b-0d5b6f6f7a12',
};
const campaign = buildCampaign({
  url: 'https://www.example.com/',
  private: false,
  commission_percent: 12.5,
  days_until_commissions_are_due: 30,
});
const money = (cents: number) => ({ cents, currency_iso: 'USD' });
const affiliate = buildAffiliate({
  campaign,
  state: 'suspicious',
  payout_email: null,
  wise_email: 'ada@wise.example.com',
  wise_email_confirmed_at: '2026-01-31T09:30+0000',
  commission_stats: { currencies: { USD: { unpaid: money(0), due: null, total: money(7) } } },
});
const referral = buildReferral({
  affiliate,
  became_lead_at: '2026-01-31T09:30:00.000+0000',
  became_conversion_at: null,
  link: null,
  coupon: COUPON,
});
const sale = buildSale({ referral, affiliate, charged_at: '2026-01-31T09:30+0000' });
const commission = buildCommission({
  campaign,
  sale,
  state: 'voided',
  voided_at: '2026-01-31T09:30:00+0000',
  due_at: '2026-01-31T09:30+0000',
});

test.each([
  { spelling: 'neutral', spell: (record: unknown) => record },
  { spelling: 'live', spell: inLiveSpelling },
])('every field that was seen in the wild has its column: spelled $spelling', ({ spell }) => {
  const drift = makeDriftWatch();
  const read = readPlain(
    drift,
    'commissions',
    toContractSpelling(JSON.parse(JSON.stringify(spell(commission)))),
    0,
  );
  if (!('rows' in read)) throw new Error(read.reason);
  expect(read.rows.map(({ table }) => table).join(' ')).toBe(
    'commissions campaigns sales referrals affiliates campaigns affiliates campaigns',
  );
  expect(read.rows.filter(({ extra }) => extra !== null)).toEqual([]);
  expect(drift.findings()).toEqual([]);
  const held = (table: 'commissions' | 'campaigns' | 'referrals' | 'affiliates', column: string) =>
    read.rows.find((row) => row.table === table)?.values[COLUMN_NAMES[table].indexOf(column)];
  expect(held('referrals', 'coupon')).toEqual(COUPON);
  expect(held('referrals', 'became_lead_at')).toBe('2026-01-31T09:30:00.000+0000');
  expect(held('affiliates', 'wise_email')).toBe('ada@wise.example.com');
  expect(held('campaigns', 'commission_percent')).toBe(12.5);
  expect(held('commissions', 'voided_at')).toBe('2026-01-31T09:30:00+0000');
});
