// What the mirror holds, and what the program itself answers, in one form, to be compared row for row. A field without
// a value is left out of both: a program need not send every field that the mirror has a column for.

import { toContractSpelling } from '../../src/contract/wire-aliases.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import type { SandboxCalls } from '../sandbox/running-sandbox.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Contents {
  readonly affiliates: readonly Row[];
  readonly links: readonly Row[];
  readonly campaigns: readonly Row[];
  readonly referrals: readonly Row[];
}

export interface Earnings {
  readonly commissions: readonly Row[];
  readonly sales: readonly Row[];
}

/** Returns everything that the contract lists, as the mirror's columns would hold it, by table, in order of id. */
export async function readProgram(sandbox: SandboxCalls): Promise<Contents> {
  const affiliates = inContractSpelling(
    await sandbox.allAffiliates('expand[]=campaign&expand[]=links&expand[]=commission_stats'),
  );
  const referrals = inContractSpelling(await sandbox.allReferrals('expand=affiliate'));
  return {
    affiliates: byId(
      affiliates.map(({ campaign, links: _, ...own }) => ({ ...own, campaign_id: campaign?.id })),
    ),
    links: byId(
      affiliates.flatMap(({ id, links }) => (links ?? []).map((link) => ({ ...link, affiliate_id: id }))),
    ),
    campaigns: byId(affiliates.flatMap(({ campaign }) => (campaign ? [campaign] : []))),
    referrals: byId(
      referrals.map(({ customer, link, affiliate, ...own }) => ({
        ...own,
        customer_platform: customer?.platform,
        customer_id: customer?.id,
        customer_name: customer?.name,
        customer_email: customer?.email,
        link_id: link?.id,
        affiliate_id: affiliate?.id,
      })),
    ),
  };
}

/** Returns the same of the commissions and their sales, where the sandbox lists them. */
export async function readProgramEarnings(sandbox: SandboxCalls): Promise<Earnings> {
  const commissions = inContractSpelling(await sandbox.allCommissions('expand[]=sale&expand[]=campaign'));
  return {
    commissions: byId(
      commissions.map(({ campaign, sale, ...own }) => ({
        ...own,
        campaign_id: campaign?.id,
        sale_id: sale?.id,
      })),
    ),
    sales: byId(
      commissions.flatMap(({ sale }) => {
        if (!sale) return [];
        const { referral, affiliate, ...own } = sale;
        return [{ ...own, referral_id: referral?.id, affiliate_id: affiliate?.id }];
      }),
    ),
  };
}

/** Returns the payouts, and the commissions with what only payouts say of them, where the sandbox lists both. */
export async function readProgramPayouts(sandbox: SandboxCalls) {
  const payouts = inContractSpelling(await sandbox.allPayouts('expand[]=affiliate&expand[]=commissions'));
  const paidOut = new Map(
    payouts.flatMap(({ id: payout_id, commissions = [] }) =>
      commissions.map(({ id, processor_account_id }) => [id, { payout_id, processor_account_id }]),
    ),
  );
  const { commissions } = await readProgramEarnings(sandbox);
  return {
    payouts: byId(
      payouts.map(({ affiliate, commissions: _, ...own }) => ({ ...own, affiliate_id: affiliate?.id })),
    ),
    commissions: byId(commissions.map((row) => ({ ...row, ...paidOut.get(String(row['id'])) }))),
  };
}

/** Returns the same of the mirror; an account that a payout named stays when the commission leaves it. */
export async function readMirrorPayouts(pool: Pool) {
  const commissions = await readTable(pool, 'commissions');
  return {
    payouts: await readTable(pool, 'payouts'),
    commissions: commissions.map(({ processor_account_id, ...row }) =>
      row['payout_id'] === undefined ? row : { ...row, processor_account_id },
    ),
  };
}

/** Returns the living rows of the same tables, without the mirror's own columns. */
export async function readMirror(pool: Pool): Promise<Contents> {
  return {
    affiliates: await readTable(pool, 'affiliates'),
    links: await readTable(pool, 'links'),
    campaigns: await readTable(pool, 'campaigns'),
    referrals: await readTable(pool, 'referrals'),
  };
}

/** Returns the same of the commissions and of their sales. */
export async function readMirrorEarnings(pool: Pool): Promise<Earnings> {
  return { commissions: await readTable(pool, 'commissions'), sales: await readTable(pool, 'sales') };
}

async function readTable(pool: Pool, table: keyof Contents | keyof Earnings | 'payouts'): Promise<Row[]> {
  const { rows } = await pool.query<Row>(`select * from ${table} where _deleted_at is null`);
  return byId(rows.map(withoutOwnColumns));
}

function inContractSpelling<T>(records: readonly T[]): T[] {
  return records.map((record) => toContractSpelling(record) as T);
}

function withoutOwnColumns(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_')));
}

// Each spells timestamps its own way; only the moment counts.
function withMoments(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const isTime = name.endsWith('_at') && typeof value === 'string';
      return [[name, isTime ? new Date(value).toISOString() : value]];
    }),
  );
}

function byId(rows: readonly Row[]): Row[] {
  const unique = new Map(rows.map((row) => [String(row['id']), withMoments(row)]));
  return [...unique.values()].sort((left, right) => (String(left['id']) < String(right['id']) ? -1 : 1));
}
