// Reads pages of records as they came: the rows that they make, and what is refused. A run reads each page as soon as
// it is there, while Postgres is busy with the pages before it.

import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { observationMicros } from './binary-array.ts';
import type { MirroredTable } from './mirrored-tables.ts';
import { type EncodedRows, makePageRows } from './page-rows.ts';
import { isPlainRecord, parsedRecord } from './plain-record.ts';
import { type ReadDeps, type RefusedApart, readRecord } from './read-record.ts';
import { RECORD_KINDS } from './record-kinds.ts';
import type { Rejection } from './rejection-reason.ts';
import { PLAIN, type Treatment } from './treatment.ts';
import { cutDeep } from './unstorable.ts';

export interface ObservedPage {
  /** When the request was granted its permit: the page shows nothing that happened later. */
  readonly observedAt: Timestamp;
  /** As the program sent them, in the contract's spelling, or as a PlainRecord. */
  readonly records: readonly unknown[];
}

export interface NestedRejection extends Rejection {
  readonly table: MirroredTable;
}

/** What the records make; of the records themselves only those that were refused are kept. */
export interface ReadPages {
  /** How many records there were. */
  readonly count: number;
  /** Of the records that fit, their own rows and those of their nested records. */
  readonly rows: readonly EncodedRows[];
  readonly rejections: readonly Rejection[];
  /** Nested records that were refused, while the records around them are among the rows; of commissions only. */
  readonly nestedRejections: readonly NestedRejection[];
  readonly namedLinks: readonly NamedLinks[];
  /** How personal data were treated. */
  readonly treatment: Treatment;
}

/** Returns what the records of the pages make; of several observations of a record, the newest. */
export function readPages(
  deps: ReadDeps,
  resource: ListedResource,
  pages: readonly ObservedPage[],
): ReadPages {
  const rows = makePageRows();
  const rejections: Rejection[] = [];
  const nestedRejections: NestedRejection[] = [];
  const namedLinks: NamedLinks[] = [];
  const { treatment = PLAIN } = deps;
  const refuse = ({ id, reason }: Pick<Rejection, 'id' | 'reason'>, record: unknown) => {
    return { id, reason, payload: treatment.treatRefused(id, cutDeep(parsedRecord(record))) };
  };
  let count = 0;
  for (const { observedAt, records } of pages) {
    const observedAtMicros = observationMicros(observedAt);
    count += records.length;
    for (const record of records) {
      const apart: RefusedApart[] | null = resource === 'commissions' ? [] : null;
      const read = readRecord(deps, resource, record, observedAtMicros, apart);
      if ('rows' in read) {
        for (const row of read.rows) rows.add(treatment.treatRow(row));
        const links = resource === 'affiliates' ? readNamedLinks(record, observedAt) : null;
        if (links !== null) namedLinks.push(links);
        for (const refused of apart ?? []) {
          const { table } = refused;
          nestedRejections.push({ table, ...refuse(refused, refused.record), observedAt });
        }
      } else {
        rejections.push({ ...refuse(read, record), observedAt });
      }
    }
  }
  return {
    count,
    rows: rows.encode(),
    rejections,
    nestedRejections,
    namedLinks,
    treatment,
  };
}

/** The links of an affiliate that was listed with them: all that it has. */
export interface NamedLinks {
  readonly affiliateId: string;
  readonly linkIds: readonly string[];
  readonly observedAt: Timestamp;
}

const LINKS = RECORD_KINDS.affiliates.nestedFields.indexOf('links');

/** Returns the links that a record which fits the contract names; null where it has no list of them. */
function readNamedLinks(record: unknown, observedAt: Timestamp): NamedLinks | null {
  const { id, links } = (isPlainRecord(record) ? { id: record.id, links: record.nested[LINKS] } : record) as {
    id: string;
    links?: readonly { id: string }[];
  };
  return links === undefined ? null : { affiliateId: id, linkIds: links.map((link) => link.id), observedAt };
}
