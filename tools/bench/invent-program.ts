// The program that is measured: records by their number, the same on every machine, at any size without storage.

import { createHash } from 'node:crypto';
import { RECORDS } from '../../src/contract/records.ts';
import { usual } from '../../test/mirror/build-records.ts';

/** What a program holds at one moment. */
export interface ProgramState {
  readonly affiliates: number;
  readonly referrals: number;
  /** Leads that came since, the newest of all. */
  readonly added: number;
  /** Every so many referrals, one has been visited again since; 0: none. */
  readonly revisitedEvery: number;
  /** So many affiliates have an old referral that converted since. */
  readonly converted: number;
}

const FIRST_NAMES = ['Ada', 'Grace', 'Zoë', 'José', 'Łukasz', 'Nguyễn', 'Edsger', 'Barbara', 'Alan', 'Radia'];
const LAST_NAMES = [
  'Lovelace',
  'Hopper',
  'Kowalski',
  'García',
  'Trần',
  'Dijkstra',
  'Liskov',
  "D'Arcy",
  'Perlman',
];
const CAMPAIGNS = ['Friends of the House', 'Agency Partners', 'Creators', 'Customers'];
/** What stands in the fields that mean nothing here. */
const USUAL_AFFILIATE = usual(RECORDS.affiliates.fields);
const USUAL_REFERRAL = usual(RECORDS.referrals.fields);
const STATES = ['visitor', 'lead', 'conversion'] as const;
const FIRST_REFERRAL_MS = Date.UTC(2023, 0, 1);
const BETWEEN_REFERRALS_MS = 61_007;

/** Returns how many referrals there are. */
export function countReferrals({ referrals, added }: ProgramState): number {
  return referrals + added;
}

/** Returns the affiliate of the number as a referral carries it: with its campaign. */
export function inventAffiliate(state: ProgramState, number: number): object {
  const person = inventPerson('affiliate', number);
  const created = new Date(FIRST_REFERRAL_MS - (state.affiliates - number) * 86_400).toISOString();
  return {
    ...USUAL_AFFILIATE,
    id: uuid('affiliate', number),
    created_at: created,
    updated_at: created,
    first_name: person.first,
    last_name: person.last,
    email: person.email,
    payout_email: `payout.${person.email}`,
    confirmed_at: created,
    payout_email_confirmed_at: created,
    receive_new_commission_notifications: number % 3 > 0,
    sign_in_count: number % 80,
    visitors: 900 + countNew(state, number),
    leads: 300 + countNew(state, number) + (number < state.converted ? 1 : 0),
    conversions: 100 + (number < state.converted ? 1 : 0),
    campaign: inventCampaign(number % CAMPAIGNS.length),
  };
}

/** Returns the affiliate of the number as the list of affiliates carries it with every expansion. */
export function inventListedAffiliate(state: ProgramState, number: number): object {
  const money = (cents: number) => ({ cents, currency_iso: 'USD' });
  const USD = {
    unpaid: money(number * 10),
    due: money(number * 4),
    paid: money(number * 90),
    total: money(number * 100),
    gross_revenue: money(number * 500),
    net_revenue: money(number * 450),
  };
  return {
    ...inventAffiliate(state, number),
    links: [inventLink(number)],
    commission_stats: { currencies: { USD } },
  };
}

/** Returns the referral of the number, with its affiliate; the oldest is 0. */
export function inventReferral(state: ProgramState, number: number): object {
  const affiliate = number % state.affiliates;
  const created = new Date(FIRST_REFERRAL_MS + number * BETWEEN_REFERRALS_MS);
  const conversionState = stateOf(state, number);
  const person = inventPerson('customer', number);
  const customer = {
    platform: 'processor',
    id: token('cus', number),
    name: `${person.first} ${person.last}`,
    email: person.email,
  };
  const isRevisited = state.revisitedEvery > 0 && number % state.revisitedEvery === 0;
  return {
    ...USUAL_REFERRAL,
    id: uuid('referral', number),
    processor_account_id: 'acct_1MirrorBenchProgram',
    processor_customer_id: conversionState === 'visitor' ? null : customer.id,
    conversion_state: conversionState,
    expires_at: new Date(created.getTime() + 60 * 86_400_000).toISOString(),
    created_at: created.toISOString(),
    updated_at: new Date(created.getTime() + (isRevisited ? 86_400_000 : 5_000)).toISOString(),
    customer: conversionState === 'visitor' ? null : customer,
    visits: 1 + (number % 9) + (isRevisited ? 1 : 0),
    link: inventLink(affiliate),
    affiliate: inventAffiliate(state, affiliate),
  };
}

/** Returns the identifier of the commission of the number. */
export function commissionId(number: number): string {
  return uuid('commission', number);
}

/** Returns a commission with its sale, referral and affiliate; each of those is in a hundredth of the commissions. */
export function inventCommission(state: ProgramState, id: string, paidAt: string | null): object {
  const number = Number.parseInt(id.slice(0, 4), 16) % Math.min(100, countReferrals(state));
  const { affiliate, ...referral } = inventReferral(state, number) as { affiliate: object };
  const created = new Date(FIRST_REFERRAL_MS + number * BETWEEN_REFERRALS_MS).toISOString();
  const times = { created_at: created, updated_at: paidAt ?? created };
  return {
    id,
    ...times,
    amount: 990,
    currency: 'USD',
    due_at: created,
    paid_at: paidAt,
    campaign: inventCampaign(0),
    sale: {
      id: uuid('sale', number),
      currency: 'USD',
      charged_at: created,
      processor_account_id: 'acct_1MirrorBenchProgram',
      processor_charge_id: token('ch', number),
      invoiced_at: created,
      created_at: created,
      updated_at: created,
      charge_amount_cents: 9900,
      refund_amount_cents: 0,
      tax_amount_cents: 0,
      sale_amount_cents: 9900,
      referral,
      affiliate,
    },
  };
}

/** Returns the affiliate's number whose identifier it is; null where it is none of the program's. */
export function findAffiliate(state: ProgramState, id: string): number | null {
  for (let number = 0; number < state.affiliates; number += 1) {
    if (uuid('affiliate', number) === id) return number;
  }
  return null;
}

function inventCampaign(number: number): object {
  const created = new Date(FIRST_REFERRAL_MS - (number + 1) * 86_400_000 * 30).toISOString();
  return { id: uuid('campaign', number), created_at: created, updated_at: created, name: CAMPAIGNS[number] };
}

function inventLink(affiliate: number): object {
  const via = `partner${affiliate}`;
  const url = `https://www.example.com/?via=${via}`;
  return { id: uuid('link', affiliate), url, token: via, visitors: 900, leads: 300, conversions: 100 };
}

// The oldest referral of an affiliate was a visitor until it converted.
function stateOf(state: ProgramState, number: number): (typeof STATES)[number] {
  if (number >= state.referrals) return 'lead';
  if (number < state.affiliates) return number < state.converted ? 'conversion' : 'visitor';
  return STATES[number % STATES.length] ?? 'visitor';
}

function countNew({ affiliates, referrals, added }: ProgramState, affiliate: number): number {
  const upTo = (total: number) =>
    total <= affiliate ? 0 : Math.floor((total - 1 - affiliate) / affiliates) + 1;
  return upTo(referrals + added) - upTo(referrals);
}

function inventPerson(kind: string, number: number): { first: string; last: string; email: string } {
  const first = FIRST_NAMES[number % FIRST_NAMES.length] ?? '';
  const last = LAST_NAMES[number % LAST_NAMES.length] ?? '';
  return { first, last, email: `${kind}.${number}@mail.example.com` };
}

function uuid(kind: string, number: number): string {
  const hex = digest(kind, number);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function token(kind: string, number: number): string {
  return `${kind}_${digest(kind, number).slice(0, 14)}`;
}

function digest(kind: string, number: number): string {
  return createHash('md5').update(`${kind} ${number}`).digest('hex');
}
