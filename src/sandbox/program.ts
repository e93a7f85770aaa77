// The changes of the program, each in one transaction. Tests call them while a client reads the program; live events
// consist of them too.

import { deleteRow, insertRows, inTransaction, type Moment, type Pool, updateRow } from './data.ts';
import {
  inventAffiliate,
  inventCampaigns,
  inventCommission,
  inventCurrency,
  inventLink,
  inventReferral,
  inventSale,
} from './invent.ts';
import { addPayout, addToPayout, finishPayout, type PayoutFields } from './payouts.ts';
import { makeRandomness } from './randomness.ts';
import type {
  AffiliateRow,
  CampaignRow,
  CommissionRow,
  LinkRow,
  PayoutRow,
  ReferralRow,
  Rows,
  SaleRow,
} from './rows.ts';
import type { Spelling } from './wire.ts';

export interface ProgramDeps {
  readonly pool: Pool;
  /** The schema, quoted. */
  readonly s: string;
  readonly seed: number;
  readonly spelling: Spelling;
  readonly now: () => Date;
}

export interface Program {
  /**
   * Runs `work` in one transaction. Its randomness depends only on the seed and on the number of moments before, also
   * across restarts.
   */
  moment<T>(work: (moment: Moment) => Promise<T>): Promise<T>;
  /** Each insert invents what the fields leave out, and returns the row. A new campaign has no affiliates. */
  insertCampaign(fields?: Partial<CampaignRow>): Promise<CampaignRow>;
  insertAffiliate(fields?: Partial<AffiliateRow>): Promise<AffiliateRow>;
  /** Belongs to a random affiliate and its first link unless the fields say otherwise. */
  insertReferral(fields?: Partial<ReferralRow>): Promise<ReferralRow>;
  /** Adds a sale to a conversion, with its commission. */
  insertSale(referralId: string, fields?: SaleFields): Promise<{ sale: SaleRow; commission: CommissionRow }>;
  /** A payout that is due. Throws if there is no commission for it. */
  insertPayout(fields?: PayoutFields): Promise<PayoutRow>;
  /** Each update and delete returns whether there was a row with that id. `updated_at` moves unless given. */
  updateAffiliate(id: string, fields: Partial<AffiliateRow>): Promise<boolean>;
  updateReferral(id: string, fields: Partial<ReferralRow>): Promise<boolean>;
  updateCommission(id: string, fields: Partial<CommissionRow>): Promise<boolean>;
  updatePayout(id: string, fields: Partial<PayoutRow>): Promise<boolean>;
  /** Puts one more commission in the payout. Returns whether both exist. */
  addToPayout(payoutId: string, commissionId: string): Promise<boolean>;
  /** Pays the payout at once, as another client. Returns whether it was unpaid. */
  finishPayout(id: string): Promise<boolean>;
  /** How long payouts that are paid from now on are processing, in milliseconds; null: for ever. */
  setProcessing(ms: number | null): Promise<void>;
  /** Its commissions are in no payout then. */
  deletePayout(id: string): Promise<boolean>;
  /** Throws if affiliates or commissions belong to it. */
  deleteCampaign(id: string): Promise<boolean>;
  deleteAffiliate(id: string): Promise<boolean>;
  deleteReferral(id: string): Promise<boolean>;
  deleteCommission(id: string): Promise<boolean>;
}

export interface SaleFields {
  readonly sale?: Partial<SaleRow>;
  readonly commission?: Partial<CommissionRow>;
}

export function makeProgram(deps: ProgramDeps): Program {
  const { pool, s, seed, spelling } = deps;

  const moment = <T>(work: (moment: Moment) => Promise<T>) =>
    inTransaction(pool, async (client) => {
      const result = await client.query<{ steps: string }>(
        `update ${s}.sandbox_program set steps = steps + 1 returning steps`,
      );
      const steps = Number(result.rows[0]?.steps);
      return work({ client, s, spelling, randomness: makeRandomness(seed, steps), now: deps.now() });
    });
  // A moment locks the program's own row first, so that two changes wait for each other and never deadlock.
  const update = <T extends keyof Rows>(table: T, id: string, fields: Partial<Rows[T]>) =>
    moment((m) => updateRow<T>(m.client, s, table, id, { updated_at: m.now.toISOString(), ...fields }));
  const remove = (table: keyof Rows, id: string) => moment((m) => deleteRow(m.client, s, table, id));

  return {
    moment,
    insertCampaign: (fields) => moment((m) => addCampaign(m, fields)),
    insertAffiliate: (fields) => moment((m) => addAffiliate(m, fields)),
    insertReferral: (fields) => moment((m) => addReferral(m, fields)),
    insertSale: (referralId, fields) => moment((m) => addSale(m, referralId, fields)),
    insertPayout: (fields) =>
      moment(async (m) => {
        const payout = await addPayout(m, fields);
        if (payout === null) throw new Error('there is no commission for a payout');
        return payout;
      }),
    updateAffiliate: (id, fields) => update('affiliates', id, fields),
    updateReferral: (id, fields) => update('referrals', id, fields),
    updateCommission: (id, fields) => update('commissions', id, fields),
    updatePayout: (id, fields) => update('payouts', id, fields),
    addToPayout: (payoutId, commissionId) => moment((m) => addToPayout(m, payoutId, commissionId)),
    finishPayout: (id) => moment((m) => finishPayout(m, id)),
    setProcessing: (ms) =>
      moment(async ({ client }) => {
        await client.query(`update ${s}.sandbox_program set processing_ms = $1`, [ms]);
      }),
    deletePayout: (id) => remove('payouts', id),
    deleteCampaign: (id) => remove('campaigns', id),
    deleteAffiliate: (id) => remove('affiliates', id),
    deleteReferral: (id) => remove('referrals', id),
    deleteCommission: (id) => remove('commissions', id),
  };
}

async function addCampaign(m: Moment, fields: Partial<CampaignRow> = {}): Promise<CampaignRow> {
  const created_at = m.now.toISOString();
  const invented = m.randomness.pick(inventCampaigns(m.randomness, m.now));
  const campaign = { ...invented, id: m.randomness.uuid(), created_at, updated_at: created_at, ...fields };
  await insertRows(m.client, m.s, 'campaigns', [campaign]);
  return campaign;
}

/** Returns an affiliate that just joined, with one link. */
export async function addAffiliate(m: Moment, fields: Partial<AffiliateRow> = {}): Promise<AffiliateRow> {
  const campaigns = await m.client.query<{ id: string }>(`select id from ${m.s}.campaigns order by id`);
  const campaign = m.randomness.pick(campaigns.rows);
  const affiliate = { ...inventAffiliate(m, campaign.id, m.now, m.now), ...fields };
  await insertRows(m.client, m.s, 'affiliates', [affiliate]);
  await insertRows(m.client, m.s, 'links', [inventLink(m.randomness, affiliate)]);
  return affiliate;
}

/** By default the referral is a visitor, or a lead in the spelling without visitors. */
export async function addReferral(m: Moment, fields: Partial<ReferralRow> = {}): Promise<ReferralRow> {
  const affiliateId = fields.affiliate_id ?? (await pickId(m, 'affiliates'));
  if (affiliateId === undefined) throw new Error('there is no affiliate');
  const links = await m.client.query<Pick<LinkRow, 'id'>>(
    `select id from ${m.s}.links where affiliate_id = $1 order by created_at, id limit 1`,
    [affiliateId],
  );
  const invented = inventReferral(m, {
    affiliate_id: affiliateId,
    link_id: links.rows[0]?.id ?? null,
    createdAt: m.now,
    asOf: m.now,
    conversion_state: fields.conversion_state ?? (m.spelling === 'live' ? 'visitor' : 'lead'),
  });
  const referral = { ...invented, ...fields };
  await insertRows(m.client, m.s, 'referrals', [referral]);
  return referral;
}

/** Returns a sale that was just charged to that referral, with its commission. */
export async function addSale(
  m: Moment,
  referralId: string,
  fields: SaleFields = {},
): Promise<{ sale: SaleRow; commission: CommissionRow }> {
  const found = await m.client.query<{
    affiliate_id: string;
    currency: string | null;
    campaign: CampaignRow;
  }>(
    `select r.affiliate_id, to_jsonb(c) as campaign,
            (select currency from ${m.s}.sales where referral_id = r.id order by created_at limit 1) as currency
       from ${m.s}.referrals r
       join ${m.s}.affiliates a on a.id = r.affiliate_id
       join ${m.s}.campaigns c on c.id = a.campaign_id
      where r.id = $1`,
    [referralId],
  );
  const [row] = found.rows;
  if (row === undefined) throw new Error(`there is no referral ${referralId}`);
  const referral = { id: referralId, affiliate_id: row.affiliate_id };
  const currency = row.currency ?? inventCurrency(m.randomness);
  const charge = { createdAt: m.now, currency, isRefunded: false };
  const sale = { ...inventSale(m, referral, charge), ...fields.sale };
  const invented = inventCommission(m.randomness, sale, row.campaign, m.now);
  const commission = { ...invented, ...fields.commission };
  await insertRows(m.client, m.s, 'sales', [sale]);
  await insertRows(m.client, m.s, 'commissions', [commission]);
  return { sale, commission };
}

// Changes happen to recent records: one of the newest matching records is drawn.
const RECENT = 1_000;

/** Returns the id of a random recent row that meets the condition, or undefined. */
export async function pickId(
  m: Moment,
  table: 'affiliates' | 'referrals' | 'commissions' | 'payouts',
  condition = 'true',
): Promise<string | undefined> {
  const result = await m.client.query<{ id: string }>(
    `with recent as materialized (
       select id, row_number() over (order by created_at desc, id desc) - 1 as place
         from ${m.s}.${table} where ${condition} order by created_at desc, id desc limit ${RECENT}
     )
     select id from recent where place = floor($1::float8 * (select count(*) from recent))`,
    [m.randomness.next()],
  );
  return result.rows[0]?.id;
}
