// The held back deletions: of resources, and of one run.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import { count, text, timestamp } from './fields.ts';
import { type Figure, type FigurePage, mirrorTable, type Reader, readFigure, readPage } from './figure.ts';
import type { RunDetails } from './read-run.ts';

export const heldBack = z.object({
  resource: z.enum(LISTED_RESOURCES),
  record_id: text('identifier of the row'),
  name: text(
    'name of the affiliate, the customer or the campaign, as far as personal data are kept',
  ).nullable(),
  email: text('email address of the affiliate or the customer, likewise').nullable(),
  affiliate_id: text(
    'the affiliate of a referral, a commission or a payout; null for others, and if it is not known',
  ).nullable(),
  affiliate_name: text('the name of that affiliate, else the email address, likewise').nullable(),
  created_at: timestamp('when the record was created').nullable(),
  changed_at: timestamp('when the row last changed here').nullable(),
  run_id: count('the last run that did not meet it'),
  held_back_at: timestamp('since when it is held back'),
  accepted_at: timestamp('when a user accepted the deletion').nullable(),
});

export type HeldBackRow = z.infer<typeof heldBack>;

export interface NamedHeldBack extends Pick<HeldBackRow, 'record_id' | 'held_back_at' | 'accepted_at'> {
  /** Like the name, only with the right to personal data. */
  readonly accepted_by?: string | null;
  readonly name?: string | null;
}

/** Returns the rows whose deletions are held back, newest record first. Hashed personal data are left out. */
export function readHeldBack(
  reader: Reader,
  resources: readonly ListedResource[],
): Promise<Figure<HeldBackRow>> {
  const table = (name: string) => mirrorTable(reader, name);
  return readFigure(
    reader,
    sql<HeldBackRow>`
      select held.resource, held.record_id, ${readable('record.name')} as name, ${readable('record.email')} as email,
             record.affiliate_id,
             coalesce(${readable(`concat_ws(' ', a.first_name, a.last_name)`)}, ${readable('a.email')}) as affiliate_name,
             record.created_at, record._changed_at as changed_at, held.run_id, held.held_back_at, held.accepted_at
      from ${table('held_back_deletions')} held
      left join lateral (
        select concat_ws(' ', first_name, last_name) as name, email, null as affiliate_id, created_at, _changed_at
        from ${table('affiliates')} where held.resource = 'affiliates' and id = held.record_id
        union all
        select customer_name, customer_email, affiliate_id, created_at, _changed_at
        from ${table('referrals')} where held.resource = 'referrals' and id = held.record_id
        union all
        select name, null, null, created_at, _changed_at
        from ${table('campaigns')} where held.resource = 'campaigns' and id = held.record_id
        union all
        select null, null, sale.affiliate_id, commission.created_at, commission._changed_at
        from ${table('commissions')} commission left join ${table('sales')} sale on sale.id = commission.sale_id
        where held.resource = 'commissions' and commission.id = held.record_id
        union all
        select null, null, affiliate_id, created_at, _changed_at
        from ${table('payouts')} where held.resource = 'payouts' and id = held.record_id
      ) record on true
      left join ${table('affiliates')} a on a.id = record.affiliate_id
      where held.resource = any(${[...resources]}::text[])
      order by held.resource, record.created_at desc nulls last, held.record_id`,
  );
}

/** A hash (PII=hash) is no name. */
function readable(text: string): RawBuilder<unknown> {
  return sql.raw(`case when ${text} not like 'hmac:%' then nullif(btrim(${text}), '') end`);
}

const PAGE_OF_ROWS = 50;

/** Returns a page of the rows that the run held back and that still are; `isFull`: with the people's names. */
export function readHeldBackOfRun(
  reader: Reader,
  run: Pick<RunDetails, 'id' | 'resource'>,
  { after, isFull }: { readonly after: string | null; readonly isFull: boolean },
): Promise<FigurePage<NamedHeldBack, string>> {
  const resource = LISTED_RESOURCES.find((name) => name === run.resource);
  if (resource === undefined) throw new TypeError(`no resource is named ${run.resource}`);
  return readPage<NamedHeldBack, string>(
    reader,
    { beyond: after, most: PAGE_OF_ROWS, keyOf: ({ record_id }) => record_id },
    (beyond, most) => sql<NamedHeldBack>`
      select held.record_id, held.held_back_at, held.accepted_at
             ${isFull ? sql`, held.accepted_by, ${nameOf(resource)} as name` : sql``}
      from ${mirrorTable(reader, 'held_back_deletions')} held
      left join ${mirrorTable(reader, resource)} record on record.id = held.record_id
      where held.resource = ${resource} and held.run_id = ${run.id} and held.record_id > ${beyond ?? ''}
      order by held.record_id limit ${most}`,
  );
}

function nameOf(resource: ListedResource): RawBuilder<unknown> {
  switch (resource) {
    case 'affiliates':
      return sql`nullif(btrim(concat_ws(' ', record.first_name, record.last_name)), '')`;
    case 'referrals':
      return sql`record.customer_name`;
    case 'campaigns':
      return sql`record.name`;
    case 'commissions':
    case 'payouts':
      return sql`null::text`;
  }
}
