// Fills empty tables with a whole program, byte for byte the same for the same seed and sizes: the number of records
// and their distribution over time. invent.ts invents a single record.

import type pg from 'pg';
import { insertRows } from './data.ts';
import {
  DAY_MS,
  datesOfConversion,
  inventAffiliate,
  inventCampaigns,
  inventCommission,
  inventCurrency,
  inventLink,
  inventReferral,
  inventSale,
  type Source,
} from './invent.ts';
import { seededPayoutOf, seedPayouts } from './payouts.ts';
import { makeRandomness, type Randomness } from './randomness.ts';
import type { AffiliateRow, CampaignRow, CommissionRow, LinkRow, ReferralRow, SaleRow } from './rows.ts';
import type { Spelling } from './wire.ts';

/** The same values give the same program. */
export interface SeedSize {
  readonly seed: number;
  readonly affiliates: number;
  readonly referrals: number;
  /** `live` has nulls, visitors and referrals by coupon. */
  readonly spelling: Spelling;
}

export interface SeedProgress {
  /** Referrals made so far, of `total`. */
  readonly done: number;
  readonly total: number;
}

export interface SeedOptions {
  /** The present of the program: no event is later. Left out: SEEDED_AS_OF. */
  readonly asOf?: Date;
  readonly onProgress?: (progress: SeedProgress) => void;
  readonly signal?: AbortSignal;
}

/** Fixed, so that the same seed gives the same program on every day. */
const SEEDED_AS_OF = new Date('2026-10-01T00:00:00.000Z');

const SPAN_DAYS = 730;
/** The newest records are so much older than the present, so that their later events are not in the future. */
const NEWEST_AGE_MS = 3 * DAY_MS;
const MOST_SALES_OF_ONE_CUSTOMER = 6;
// Large enough that a statement's overhead does not count, small enough that memory does not grow with the size.
const ROWS_PER_STATEMENT = 5_000;

interface SeedSource extends Source {
  readonly start: Date;
  readonly newest: Date;
  readonly asOf: Date;
}

interface Batch {
  readonly referrals: ReferralRow[];
  readonly sales: SaleRow[];
  readonly commissions: CommissionRow[];
}

/** The tables must be empty and without triggers. Throws: the signal's reason if it aborts. */
export async function seedProgram(
  client: pg.PoolClient,
  s: string,
  size: SeedSize,
  { asOf = SEEDED_AS_OF, onProgress, signal }: SeedOptions = {},
): Promise<void> {
  const randomness = makeRandomness(size.seed);
  const start = new Date(asOf.getTime() - SPAN_DAYS * DAY_MS);
  const newest = new Date(asOf.getTime() - NEWEST_AGE_MS);
  const source = { randomness, spelling: size.spelling, start, newest, asOf };
  const campaigns = inventCampaigns(randomness, start);
  await insertRows(client, s, 'campaigns', campaigns);

  const { affiliates, links } = spreadAffiliates(source, campaigns, size.affiliates);
  for (const rows of inSlices(affiliates)) await insertRows(client, s, 'affiliates', rows);
  for (const rows of inSlices(links)) await insertRows(client, s, 'links', rows);

  const referrers = makeReferrers(campaigns, affiliates, links);
  for (let done = 0; done < size.referrals; done += ROWS_PER_STATEMENT) {
    signal?.throwIfAborted();
    const batch: Batch = { referrals: [], sales: [], commissions: [] };
    const until = Math.min(ROWS_PER_STATEMENT, size.referrals - done);
    for (let index = 0; index < until; index += 1) addReferral(source, referrers, batch);
    await insertRows(client, s, 'referrals', batch.referrals);
    await insertRows(client, s, 'sales', batch.sales);
    await insertRows(client, s, 'commissions', batch.commissions);
    onProgress?.({ done: done + until, total: size.referrals });
  }
  await seedPayouts(client, s);
}

function spreadAffiliates(source: SeedSource, campaigns: CampaignRow[], count: number) {
  const { randomness, start, newest, asOf } = source;
  const affiliates: AffiliateRow[] = [];
  const links: LinkRow[] = [];
  for (let index = 0; index < count; index += 1) {
    const previous = affiliates.at(-1);
    // Some are created in the same millisecond, as by an import: lists must order them all the same.
    const createdAt =
      previous !== undefined && randomness.chance(0.03)
        ? new Date(previous.created_at)
        : between(randomness, start, newest);
    const affiliate = inventAffiliate(source, randomness.pick(campaigns).id, createdAt, asOf);
    affiliates.push(affiliate);
    const howMany = randomness.chance(0.2) ? randomness.integer(2, 4) : 1;
    for (let made = 0; made < howMany; made += 1) links.push(inventLink(randomness, affiliate));
  }
  return { affiliates, links };
}

interface Referrer {
  readonly affiliate: AffiliateRow;
  readonly campaign: CampaignRow;
  readonly links: LinkRow[];
}

function makeReferrers(campaigns: CampaignRow[], affiliates: AffiliateRow[], links: LinkRow[]): Referrer[] {
  const campaignById = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
  const linksByAffiliate = Map.groupBy(links, (link) => link.affiliate_id);
  return affiliates.map((affiliate) => {
    const campaign = campaignById.get(affiliate.campaign_id);
    if (campaign === undefined) throw new Error(`affiliate ${affiliate.id} is in no campaign`);
    return { affiliate, campaign, links: linksByAffiliate.get(affiliate.id) ?? [] };
  });
}

function addReferral(source: SeedSource, referrers: readonly Referrer[], batch: Batch): void {
  const { randomness, spelling, newest, asOf } = source;
  // Squaring favours the first ones: a few affiliates bring most of the referrals, as in real programs.
  const referrer = referrers[Math.floor(referrers.length * randomness.next() ** 2)];
  if (referrer === undefined) throw new Error('there is no affiliate');
  const joinedAt = new Date(referrer.affiliate.created_at);
  const previous = batch.referrals.at(-1);
  const isTied =
    previous !== undefined &&
    Date.parse(previous.created_at) >= joinedAt.getTime() &&
    randomness.chance(0.05);
  const createdAt = isTied ? new Date(previous.created_at) : between(randomness, joinedAt, newest);
  const draw = randomness.next();
  const isVisitor = draw < 0.68 && spelling === 'live';
  const conversion_state = isVisitor ? 'visitor' : draw < 0.85 ? 'lead' : 'conversion';
  // A coupon is entered at the checkout: its customer came by no link.
  const cameByCoupon = !isVisitor && randomness.chance(0.05) && spelling === 'live';
  const referral = inventReferral(source, {
    affiliate_id: referrer.affiliate.id,
    link_id: cameByCoupon ? null : randomness.pick(referrer.links).id,
    createdAt,
    asOf,
    conversion_state,
  });
  repeatCustomer(randomness, referral, batch);
  batch.referrals.push(referral);
  if (conversion_state === 'conversion') addSales(source, referrer, referral, batch);
}

// A customer who came twice: two referrals have one email, so a filter by email can find several.
function repeatCustomer(randomness: Randomness, referral: ReferralRow, batch: Batch): void {
  if (referral.customer_email === null || !randomness.chance(0.02)) return;
  const earlier = batch.referrals.findLast((other) => other.customer_email !== null);
  if (earlier === undefined) return;
  referral.customer_email = earlier.customer_email;
  referral.customer_name = earlier.customer_name;
  referral.customer_id = earlier.customer_id;
  referral.processor_customer_id = earlier.processor_customer_id;
}

function addSales(source: SeedSource, referrer: Referrer, referral: ReferralRow, batch: Batch): void {
  const { randomness, asOf } = source;
  const currency = inventCurrency(randomness);
  const howMany = randomness.integer(1, MOST_SALES_OF_ONE_CUSTOMER);
  let createdAtMs = Date.parse(referral.created_at) + randomness.integer(60_000, 2 * DAY_MS);
  for (let made = 0; made < howMany && createdAtMs <= asOf.getTime() - DAY_MS; made += 1) {
    const charge = { createdAt: new Date(createdAtMs), currency, isRefunded: randomness.chance(0.04) };
    const sale = inventSale(source, referral, charge);
    // Its first charge makes a lead a customer, at the latest.
    if (made === 0 && sale.charged_at < referral.updated_at) {
      Object.assign(referral, datesOfConversion(referral.created_at, sale.charged_at));
    }
    batch.sales.push(sale);
    const commission = inventCommission(randomness, sale, referrer.campaign, asOf);
    batch.commissions.push({ ...commission, payout_id: seededPayoutOf(commission) });
    createdAtMs += randomness.integer(28, 32) * DAY_MS;
  }
}

function between(randomness: Randomness, from: Date, until: Date): Date {
  return new Date(randomness.integer(from.getTime(), until.getTime()));
}

function* inSlices<T>(rows: readonly T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) yield rows.slice(at, at + ROWS_PER_STATEMENT);
}
