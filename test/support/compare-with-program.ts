// What the mirror holds, and what the program itself answers, in one form, to be compared row for row.

import type pg from 'pg';
import type { TestSandbox } from '../sandbox/running-sandbox.ts';

type Row = Readonly<Record<string, unknown>>;

export interface Contents {
  readonly affiliates: readonly Row[];
  readonly links: readonly Row[];
  readonly campaigns: readonly Row[];
  readonly referrals: readonly Row[];
}

/** Returns everything that the program lists, as the mirror's columns would hold it, by table, in order of id. */
export async function readProgram(sandbox: TestSandbox): Promise<Contents> {
  const affiliates = await sandbox.allAffiliates(
    'expand[]=campaign&expand[]=links&expand[]=commission_stats',
  );
  const referrals = await sandbox.allReferrals('expand=affiliate');
  return {
    affiliates: byId(
      affiliates.map(({ campaign, links: _, ...own }) => ({
        ...times(own),
        campaign_id: campaign?.id ?? null,
      })),
    ),
    links: byId(
      affiliates.flatMap(({ id, links }) => (links ?? []).map((link) => ({ ...link, affiliate_id: id }))),
    ),
    campaigns: byId(affiliates.flatMap(({ campaign }) => (campaign ? [times(campaign)] : []))),
    referrals: byId(
      referrals.map(({ customer, link, affiliate, ...own }) => ({
        ...times(own),
        customer_platform: customer?.platform ?? null,
        customer_id: customer?.id ?? null,
        customer_name: customer?.name ?? null,
        customer_email: customer?.email ?? null,
        link_id: link?.id ?? null,
        affiliate_id: affiliate?.id ?? null,
      })),
    ),
  };
}

/** Returns the living rows of the same tables, without the mirror's own columns and those that are null everywhere. */
export async function readMirror(pool: pg.Pool): Promise<Contents> {
  const read = async (table: keyof Contents) => {
    const { rows } = await pool.query<Row>(`select * from ${table} where _deleted_at is null`);
    return byId(rows.map((row) => times(withoutOwnColumns(row))));
  };
  return {
    affiliates: (await read('affiliates')).map(({ state: _, ...row }) => row),
    links: await read('links'),
    campaigns: await read('campaigns'),
    referrals: await read('referrals'),
  };
}

function withoutOwnColumns(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_')));
}

// Each spells timestamps its own way; only the moment counts.
function times(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) =>
      name.endsWith('_at') && typeof value === 'string'
        ? [name, new Date(value).toISOString()]
        : [name, value],
    ),
  );
}

function byId(rows: readonly Row[]): Row[] {
  const unique = new Map(rows.map((row) => [String(row['id']), row]));
  return [...unique.values()].sort((left, right) => (String(left['id']) < String(right['id']) ? -1 : 1));
}
