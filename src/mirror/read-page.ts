// Reads one page of records as they came: what each makes of rows, what is refused, and who is on it. Done as soon as
// a page is there, while Postgres is busy with the pages before it. Knows no statement.

import type { Instant } from '../api/slot.ts';
import { toMicros } from './binary-array.ts';
import { type NamedLinks, readNamedLinks } from './gone-links.ts';
import { type ReadDeps, readRecord, usableId } from './read-record.ts';
import type { Rejection } from './rejected-records.ts';
import type { MirrorRow } from './rows-of-record.ts';

export type LoadedResource = 'affiliates' | 'referrals' | 'commissions';

export interface ObservedPage {
  /** When the request was granted its slot: the page knows of nothing that happened later. */
  readonly observedAt: Instant;
  /** As the program sent them, in the contract's spelling. */
  readonly records: readonly unknown[];
}

/** What a page's records make; the records themselves are not kept, those that were refused excepted. */
export interface ReadPage {
  /** The identifier of each record in order; null where it has none that can be used. */
  readonly ids: readonly (string | null)[];
  /** Of each record that fits, its own row and those of its nested records. */
  readonly rows: readonly MirrorRow[];
  readonly rejections: readonly Rejection[];
  readonly namedLinks: readonly NamedLinks[];
}

/** Gives back what the records of the page make. */
export function readPage(deps: ReadDeps, resource: LoadedResource, page: ObservedPage): ReadPage {
  const { observedAt, records } = page;
  const observedAtMicros = toMicros(observedAt);
  const ids: (string | null)[] = [];
  const rows: MirrorRow[] = [];
  const rejections: Rejection[] = [];
  const namedLinks: NamedLinks[] = [];
  for (const record of records) {
    const read = readRecord(deps, resource, record, observedAtMicros);
    ids.push('rows' in read ? read.id : usableId(record));
    if ('rows' in read) {
      for (const row of read.rows) rows.push(row);
      const links = resource === 'affiliates' ? readNamedLinks(record, observedAt) : null;
      if (links !== null) namedLinks.push(links);
    } else {
      rejections.push({ ...read, payload: record, observedAt });
    }
  }
  return { ids, rows, rejections, namedLinks };
}
