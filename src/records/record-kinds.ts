// What each kind of record holds: its own fields, the records nested in it, and where they go.
// One line per nesting; adding a resource adds a kind.

import { z } from 'zod';
import { affiliateSchema, campaignSchema, linkSchema } from '../contract/affiliate.ts';
import { commissionSchema, saleSchema } from '../contract/commission.ts';
import { customerSchema, referralSchema } from '../contract/referral.ts';
import { type FastCheck, makeFastCheck } from './fast-check.ts';
import { COLUMN_NAMES, type MirroredTable } from './mirrored-tables.ts';

/** A field, and the place of its column among the table's. */
export interface Placed {
  readonly field: string;
  readonly place: number;
}

/** Of a nested record, the place is that of `<field>_id`; a list's records point back by a column of their own. */
export interface Nesting extends Placed {
  readonly table: MirroredTable;
  readonly isList: boolean;
}

export interface RecordKind {
  readonly table: MirroredTable;
  /** Checks the record's own fields; nested records are checked as records of their own kind. */
  readonly schema: z.ZodObject;
  /** Passes most records that the schema accepts, fast; see fast-check.ts. */
  readonly isPlain: FastCheck;
  readonly nested: readonly Nesting[];
  readonly nestedFields: readonly string[];
  /** Every field that the schema above knows. */
  readonly ownFields: ReadonlySet<string>;
  /** The own fields that have a column: all but the customer. */
  readonly placed: readonly Placed[];
  /** The customer is no record: its fields become columns of the referral. Empty in every other kind. */
  readonly customer: readonly Placed[];
  /** Where the affiliate that a record belongs to is kept; -1 where the kind has no such column. */
  readonly ownerPlace: number;
  /** Own fields that the contract's tables promise in every record; a nested view may be shorter. */
  readonly promised: readonly string[];
}

const CUSTOMER = 'customer';

export const CUSTOMER_FIELDS: readonly string[] = Object.keys(customerSchema.shape);

type NestedIn = readonly [field: string, table: MirroredTable, how: 'one' | 'list'];

export const RECORD_KINDS: Readonly<Record<MirroredTable, RecordKind>> = {
  // What is only seen in the wild is not promised; campaign, links and stats are there where they were asked for.
  campaigns: makeKind(
    'campaigns',
    campaignSchema,
    [],
    ['url', 'private', 'commission_percent', 'days_until_commissions_are_due'],
  ),
  affiliates: makeKind(
    'affiliates',
    affiliateSchema,
    [
      ['campaign', 'campaigns', 'one'],
      ['links', 'links', 'list'],
    ],
    ['state', 'wise_email', 'wise_email_confirmed_at', 'commission_stats'],
  ),
  links: makeKind('links', linkSchema, []),
  referrals: makeKind(
    'referrals',
    referralSchema,
    [
      ['affiliate', 'affiliates', 'one'],
      ['link', 'links', 'one'],
    ],
    ['became_lead_at', 'became_conversion_at', 'coupon'],
  ),
  sales: makeKind('sales', saleSchema, [
    ['referral', 'referrals', 'one'],
    ['affiliate', 'affiliates', 'one'],
  ]),
  commissions: makeKind(
    'commissions',
    commissionSchema,
    [
      ['campaign', 'campaigns', 'one'],
      ['sale', 'sales', 'one'],
    ],
    ['state', 'voided_at'],
  ),
};

function makeKind(
  table: MirroredTable,
  schema: z.ZodObject,
  nested: readonly NestedIn[],
  unpromised: readonly string[] = [],
): RecordKind {
  const nestedFields = nested.map(([field]) => field);
  const own = Object.entries(schema.shape).filter(([field]) => !nestedFields.includes(field));
  const ownFields = own.map(([field]) => field);
  const ownSchema = z.looseObject(Object.fromEntries(own));
  const placeOf = (column: string) => COLUMN_NAMES[table].indexOf(column);
  return {
    table,
    schema: ownSchema,
    isPlain: makeFastCheck(ownSchema),
    nested: nested.map(([field, of, how]) => ({
      field,
      table: of,
      isList: how === 'list',
      place: placeOf(`${field}_id`),
    })),
    nestedFields,
    ownFields: new Set(ownFields),
    placed: ownFields
      .filter((field) => field !== CUSTOMER)
      .map((field) => ({ field, place: placeOf(field) })),
    customer: ownFields.includes(CUSTOMER)
      ? CUSTOMER_FIELDS.map((field) => ({ field, place: placeOf(`${CUSTOMER}_${field}`) }))
      : [],
    ownerPlace: placeOf('affiliate_id'),
    promised: ownFields.filter((field) => !unpromised.includes(field)),
  };
}
