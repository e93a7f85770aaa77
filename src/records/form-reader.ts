// Reads the records of a list by the forms that they have had so far. See record-form.ts.

import type { ListedResource } from '../contract/resources.ts';
import type { LoadedCache } from './loaded-cache.ts';
import type { MirroredTable } from './mirrored-tables.ts';
import { makeNestedReader } from './nested-bytes.ts';
import type { PlainRecord } from './plain-record.ts';
import { makeRecordForm, type RecordForm } from './record-form.ts';
import { RECORD_KINDS } from './record-kinds.ts';
import type { NestedReaders } from './value-readers.ts';

/** A program has a form for each kind of referral at most; more would be tried in vain for each record. */
const MOST_FORMS = 8;

export interface FormReader {
  /** Returns the record that begins at the place, and the place after it; null where its form is not known. */
  read(bytes: Buffer, at: number): { readonly record: PlainRecord; readonly end: number } | null;
  /** Learns the form of a record, as it came, which begins at the place. */
  learn(record: unknown, bytes: Buffer, at: number): void;
}

/** Each is nested in many records; a sale is in one or two. */
const OFTEN_NESTED: readonly MirroredTable[] = ['campaigns', 'affiliates', 'links'];

/**
 * Returns a reader that knows no form yet, for what one attempt of a run reads of the resource. The cache is the one in
 * which the attempt notes nested records.
 */
export function makeFormReader(resource: ListedResource, cache: LoadedCache): FormReader {
  const kind = RECORD_KINDS[resource];
  const readers: NestedReaders = new Map(
    OFTEN_NESTED.map((table) => [table, makeNestedReader((id) => cache.find(table, id))]),
  );
  /** Forms that were seen, readable or not. */
  const known = new Set<string>();
  /** The one that read last comes first. */
  let forms: readonly RecordForm[] = [];
  return {
    read(bytes, at) {
      for (const form of forms) {
        const read = form.read(bytes, at);
        if (read === null) continue;
        if (form !== forms[0]) forms = [form, ...forms.filter((other) => other !== form)];
        return read;
      }
      return null;
    },
    learn(record, bytes, at) {
      if (typeof record !== 'object' || record === null || known.size === MOST_FORMS) return;
      const fields = fieldsOf(record);
      if (known.has(fields)) return;
      known.add(fields);
      const form = makeRecordForm(kind, record, { bytes, at }, readers);
      if (form !== null) forms = [form, ...forms];
    },
  };
}

function fieldsOf(record: object): string {
  const customer = (record as { customer?: unknown }).customer;
  const inner = typeof customer === 'object' && customer !== null ? Object.keys(customer) : [];
  return [...Object.keys(record), '', ...inner].join(' ');
}
