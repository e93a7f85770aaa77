// The deletions that are held back: of resources as a whole, and those of one run.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import { count, text, timestamp } from './fields.ts';
import { type Figure, type FigurePage, mirrorTable, type Reader, readFigure, readPage } from './figure.ts';
import type { RunDetails } from './read-run.ts';

export const heldBack = z.object({
  resource: z.enum(LISTED_RESOURCES),
  record_id: text('identifier of the row'),
  affiliate_id: text(
    'the affiliate of a referral or a commission; null for others, and where it is not known',
  ).nullable(),
  created_at: timestamp('when the record was created').nullable(),
  run_id: count('the last run that did not meet it'),
  held_back_at: timestamp('since when it is held back'),
  accepted_at: timestamp('when somebody accepted that it is gone').nullable(),
});

export type HeldBackRow = z.infer<typeof heldBack>;

export interface NamedHeldBack extends Pick<HeldBackRow, 'record_id' | 'held_back_at' | 'accepted_at'> {
  /** With personal data alone, as name. */
  readonly accepted_by?: string | null;
  readonly name?: string | null;
}

/** Returns the rows whose deletions are held back, newest record first: identifiers and times, nothing of a person. */
export function readHeldBack(
  reader: Reader,
  resources: readonly ListedResource[],
): Promise<Figure<HeldBackRow>> {
  const table = (name: string) => mirrorTable(reader, name);
  return readFigure(
    reader,
    sql<HeldBackRow>`
      select h.resource, h.record_id, coalesce(r.affiliate_id, s.affiliate_id) as affiliate_id,
             coalesce(a.created_at, r.created_at, k.created_at, c.created_at) as created_at,
             h.run_id, h.held_back_at, h.accepted_at
      from ${table('held_back_deletions')} h
      left join ${table('affiliates')} a on h.resource = 'affiliates' and a.id = h.record_id
      left join ${table('referrals')} r on h.resource = 'referrals' and r.id = h.record_id
      left join ${table('campaigns')} k on h.resource = 'campaigns' and k.id = h.record_id
      left join ${table('commissions')} c on h.resource = 'commissions' and c.id = h.record_id
      left join ${table('sales')} s on s.id = c.sale_id
      where h.resource = any(${[...resources]}::text[])
      order by h.resource, created_at desc nulls last, h.record_id`,
  );
}

const PAGE_OF_ROWS = 50;

/** Returns a page of the rows that the run held back and that are still so; `isFull`: with whom they are about. */
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
      return sql`null::text`;
  }
}
