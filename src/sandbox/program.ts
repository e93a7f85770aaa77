// What can happen in the program, each in one transaction: records come, change and go. Tests call it to change the
// program while a client reads it; live steps are made of the same actions.

import type pg from 'pg';
import { deleteRow, insertRows, inTransaction, updateRow } from './data.ts';
import {
  inventAffiliate,
  inventCampaigns,
  inventCommission,
  inventCurrency,
  inventLink,
  inventReferral,
  inventSale,
  type Source,
} from './invent.ts';
import { makeRandomness } from './randomness.ts';
import type {
  AffiliateRow,
  CampaignRow,
  CommissionRow,
  LinkRow,
  ReferralRow,
  Rows,
  SaleRow,
} from './rows.ts';
import type { Spelling } from './wire.ts';

export interface ProgramDeps {
  readonly pool: pg.Pool;
  /** The schema, quoted. */
  readonly s: string;
  readonly seed: number;
  readonly spelling: Spelling;
  readonly now: () => Date;
}

/** One transaction of the program, with the chance and the time that hold in it. */
export interface Moment extends Source {
  readonly client: pg.PoolClient;
  readonly s: string;
  readonly now: Date;
}

export interface Program {
  /**
   * Returns what `work` returns, in one transaction. What chance brings depends only on the seed and on how
   * many moments there were before, also across restarts.
   */
  moment<T>(work: (moment: Moment) => Promise<T>): Promise<T>;
  /** Each insert invents what the fields leave out, and returns the row. A new campaign has no affiliates. */
  insertCampaign(fields?: Partial<CampaignRow>): Promise<CampaignRow>;
  insertAffiliate(fields?: Partial<AffiliateRow>): Promise<AffiliateRow>;
  /** Belongs to a random affiliate and its first link unless the fields say otherwise. */
  insertReferral(fields?: Partial<ReferralRow>): Promise<ReferralRow>;
  /** Adds a sale to a conversion, with its commission. */
  insertSale(referralId: string, fields?: SaleFields): Promise<{ sale: SaleRow; commission: CommissionRow }>;
  /** Each update and delete returns whether there was a row with that id. `updated_at` moves unless given. */
  updateAffiliate(id: string, fields: Partial<AffiliateRow>): Promise<boolean>;
  updateReferral(id: string, fields: Partial<ReferralRow>): Promise<boolean>;
  updateCommission(id: string, fields: Partial<CommissionRow>): Promise<boolean>;
  /** Throws where affiliates or commissions belong to it. */
  deleteCampaign(id: string): Promise<boolean>;
  deleteAffiliate(id: string): Promise<boolean>;
  deleteReferral(id: string): Promise<boolean>;
  deleteCommission(id: string): Promise<boolean>;
}

export interface SaleFields {
  readonly sale?: Partial<SaleRow>;
  readonly commission?: Partial<CommissionRow>;
}

/** Returns the program kept in the schema's tables. */
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
    updateAffiliate: (id, fields) => update('affiliates', id, fields),
    updateReferral: (id, fields) => update('referrals', id, fields),
    updateCommission: (id, fields) => update('commissions', id, fields),
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

/** Returns a referral that just came: unless the fields say otherwise a visitor, or a lead where there are none. */
export async function addReferral(m: Moment, fields: Partial<ReferralRow> = {}): Promise<ReferralRow> {
  const affiliateId = fields.affiliate_id ?? (await pickId(m, 'affiliates'));
  if (affiliateId === undefined) throw new Error('there is no affiliate to refer anybody');
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
  if (row === undefined) throw new Error(`there is no referral ${referralId} to sell to`);
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

// Things happen to recent records: one of so many of the newest that qualify is drawn.
const RECENT = 1_000;

/** Returns the id of a random recent row that meets the condition, or undefined where none does. */
export async function pickId(
  m: Moment,
  table: 'affiliates' | 'referrals' | 'commissions',
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
