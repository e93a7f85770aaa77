// What each kind of record holds: its own fields, the records nested in it, and where they go.
// One line per nesting; adding a resource adds a kind. Knows the contract's schemas, no statement.

import { z } from 'zod';
import { affiliateSchema } from '../contract/affiliate.ts';
import { campaignSchema } from '../contract/campaign.ts';
import { commissionSchema } from '../contract/commission.ts';
import { linkSchema } from '../contract/link.ts';
import { customerSchema, referralSchema } from '../contract/referral.ts';
import { saleSchema } from '../contract/sale.ts';
import type { MirroredTable } from './mirrored-tables.ts';

export interface Nesting {
  readonly field: string;
  readonly table: MirroredTable;
  /** A list's records point back by their own column; a single one is pointed to by `column`. */
  readonly isList: boolean;
  /** `<field>_id`, put together once, not anew for each record. */
  readonly column: string;
}

export interface RecordKind {
  readonly table: MirroredTable;
  /** Checks the record's own fields; nested records are checked as records of their own kind. */
  readonly schema: z.ZodType;
  readonly nested: readonly Nesting[];
  readonly nestedFields: readonly string[];
  /** Every field that the schema above knows. */
  readonly ownFields: ReadonlySet<string>;
  /** Own fields that the contract's tables promise in every record; a nested view may be shorter. */
  readonly promised: readonly string[];
}

const one = (field: string, table: MirroredTable): Nesting => ({
  field,
  table,
  isList: false,
  column: `${field}_id`,
});

const many = (field: string, table: MirroredTable): Nesting => ({ ...one(field, table), isList: true });

/** The customer is no record: its fields become columns of the referral. By field: customer_platform and so on. */
export const CUSTOMER_COLUMNS: ReadonlyMap<string, string> = new Map(
  Object.keys(customerSchema.shape).map((field) => [field, `customer_${field}`]),
);

export const CUSTOMER_FIELDS: readonly string[] = [...CUSTOMER_COLUMNS.keys()];

export const RECORD_KINDS: Readonly<Record<MirroredTable, RecordKind>> = {
  campaigns: makeKind('campaigns', campaignSchema, []),
  // `state` is only seen in the wild; campaign, links and stats are there where they were asked for.
  affiliates: makeKind(
    'affiliates',
    affiliateSchema,
    [one('campaign', 'campaigns'), many('links', 'links')],
    ['state', 'commission_stats'],
  ),
  links: makeKind('links', linkSchema, []),
  referrals: makeKind('referrals', referralSchema, [one('affiliate', 'affiliates'), one('link', 'links')]),
  sales: makeKind('sales', saleSchema, [one('referral', 'referrals'), one('affiliate', 'affiliates')]),
  commissions: makeKind(
    'commissions',
    commissionSchema,
    [one('campaign', 'campaigns'), one('sale', 'sales')],
    ['state', 'voided_at'],
  ),
};

function makeKind(
  table: MirroredTable,
  schema: z.ZodObject,
  nested: readonly Nesting[],
  unpromised: readonly string[] = [],
): RecordKind {
  const nestedFields = nested.map(({ field }) => field);
  const own = Object.entries(schema.shape).filter(([field]) => !nestedFields.includes(field));
  return {
    table,
    schema: z.looseObject(Object.fromEntries(own)),
    nested,
    nestedFields,
    ownFields: new Set(own.map(([field]) => field)),
    promised: own.map(([field]) => field).filter((field) => !unpromised.includes(field)),
  };
}
