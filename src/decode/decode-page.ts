// Makes rows or rejections of the API's records: pages of a list from their bytes, and records that were parsed
// already. A record is read the fast way if that is certain to be right, and else the plain way; both give the same
// rows. A run decodes each page as soon as it arrives, while Postgres is busy with those before it, and keeps only the
// rows.

import { type ListEnvelope, listEnvelopeSchema } from '../contract/answer-bodies.ts';
import { parseJson } from '../contract/parse-json.ts';
import { isSingle, type ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import { observationMicros } from './binary-array.ts';
import type { DriftWatch } from './drift-watch.ts';
import { makeFastReader, type ReadFast } from './fast/fast-reader.ts';
import { CLOSING_BRACKET, NOWHERE, parseAt, readItems, SPACE } from './fast/json-bytes.ts';
import { makeNestedCache, type NestedCache } from './fast/nested-cache.ts';
import type { MirroredTable } from './mirrored-tables.ts';
import { type EncodedRows, makePageRows } from './page-rows.ts';
import { type RefusedApart, readPlain, usableId } from './plain-reader.ts';
import { RECORD_KINDS } from './record-kinds.ts';
import type { Rejection } from './rejection-reason.ts';
import { NO_BYTES } from './rows.ts';
import { PLAIN, type Treatment } from './treatment.ts';
import { cutDeep } from './unstorable.ts';

/** The state of decoding between the pages of one attempt of a run. */
export interface Decoding {
  readonly resource: ListedResource;
  readonly drift: DriftWatch | null;
  readonly treatment: Treatment;
  /** Null: every record is read the plain way. */
  readonly fast: { readonly read: ReadFast; readonly cache: NestedCache } | null;
}

interface DecodingDeps {
  readonly drift?: DriftWatch | null;
  /** How personal data are stored; left out, all as it came. */
  readonly treatment?: Treatment | undefined;
}

/** Returns the decoding of one attempt of a run: all of its pages are to be loaded, in their order. */
export function makeDecoding(
  resource: ListedResource,
  { drift = null, treatment = PLAIN }: DecodingDeps = {},
): Decoding {
  const cache = makeNestedCache();
  return { resource, drift, treatment, fast: { read: makeFastReader(resource, cache, drift), cache } };
}

export interface PageBytes {
  readonly bytes: Buffer;
  /** When the request was granted its permit: the page shows nothing that happened later. */
  readonly observedAt: Timestamp;
}

/** Records that were parsed, in the contract's spelling. */
export interface ParsedRecords {
  readonly records: readonly unknown[];
  readonly observedAt: Timestamp;
}

export interface NestedRejection extends Rejection {
  readonly table: MirroredTable;
}

/** All records that a record lists: the links of an affiliate, or the commissions of a payout. */
export interface Listing {
  readonly ownerId: string;
  readonly ids: readonly string[];
  readonly observedAt: Timestamp;
}

/** The rows of the records, and the records that were refused. */
export interface DecodedPage {
  /** The identifiers of the records; null if a record has no usable one. */
  readonly ids: readonly (string | null)[];
  /** The rows of the records that fit, and of their nested records; a record has one row, the newest. */
  readonly rows: readonly EncodedRows[];
  readonly rejections: readonly Rejection[];
  /** Nested records that were refused, while the records around them are among the rows; of commissions and payouts. */
  readonly nestedRejections: readonly NestedRejection[];
  /** Of the records that came with what they list. */
  readonly listings: readonly Listing[];
  /** How personal data were treated. */
  readonly treatment: Treatment;
}

export interface DecodedList {
  readonly pagination: ListEnvelope['pagination'];
  readonly data: DecodedPage;
}

/**
 * Decodes a page with its envelope, or parsed records. Null if the bytes are no list, or have more around it than the
 * contract shows: then the page is to be parsed, and its records decoded.
 */
export function decodePage(decoding: Decoding, page: PageBytes): DecodedList | null;
export function decodePage(decoding: Decoding, parsed: readonly ParsedRecords[]): DecodedPage;
export function decodePage(decoding: Decoding, given: PageBytes | readonly ParsedRecords[]) {
  const collected = collect(decoding);
  if ('bytes' in given) {
    const { bytes, observedAt } = given;
    const list = findList(bytes);
    if (list === null) return null;
    const { pagination, start, close } = list;
    const when = { observedAt, micros: observationMicros(observedAt) };
    const end = readItems(bytes, start, (at) => collected.addAt(bytes, at, when));
    if (end === close) return { pagination, data: collected.page() };
    // Noted nested records are not going to be loaded.
    decoding.fast?.cache.clear();
    return null;
  }
  for (const { records, observedAt } of given) {
    const when = { observedAt, micros: observationMicros(observedAt) };
    for (const record of records) collected.addParsed(record, when);
  }
  return collected.page();
}

interface When {
  readonly observedAt: Timestamp;
  readonly micros: number;
}

function collect({ resource, drift, treatment, fast }: Decoding) {
  const rows = makePageRows();
  const ids: (string | null)[] = [];
  const rejections: Rejection[] = [];
  const nestedRejections: NestedRejection[] = [];
  const listings: Listing[] = [];

  function reject({ id, reason }: Pick<Rejection, 'id' | 'reason'>, record: unknown, observedAt: Timestamp) {
    return { id, reason, payload: treatment.treatRefused(id, cutDeep(record)), observedAt };
  }

  function addParsed(record: unknown, { observedAt, micros }: When): void {
    const apart: RefusedApart[] | null = isSingle(resource) ? [] : null;
    const read = readPlain(drift, resource, record, micros, apart);
    ids.push(usableId(record));
    if ('reason' in read) {
      rejections.push(reject(read, record, observedAt));
      return;
    }
    for (const row of read.rows) {
      const { table, id } = row;
      fast?.cache.note(table, { id, bytes: NO_BYTES, owner: null, observedAtMicros: micros });
      rows.add(treatment.treatRow(row));
    }
    for (const { table, ...refused } of apart ?? []) {
      nestedRejections.push({ table, ...reject(refused, refused.record, observedAt) });
    }
    const listed = RECORD_KINDS[resource].nested.find(({ isList }) => isList);
    const list = listed && (record as Record<string, unknown>)[listed.field];
    if (Array.isArray(list)) {
      listings.push({ ownerId: read.id, ids: list.flatMap((one) => usableId(one) ?? []), observedAt });
    }
  }

  /** Adds the record that begins at the place, and returns the place after it. */
  function addAt(bytes: Buffer, at: number, when: When): number {
    const read = fast?.read(bytes, at, when.micros) ?? null;
    if (read === null) {
      const parsed = parseAt(bytes, at);
      if (parsed === null) return NOWHERE;
      addParsed(toContractSpelling(parsed.value), when);
      return parsed.end;
    }
    const { id, listedIds, end } = read;
    ids.push(id);
    for (const row of read.rows) rows.add(treatment.treatRow(row));
    if (listedIds !== null) listings.push({ ownerId: id, ids: listedIds, observedAt: when.observedAt });
    return end;
  }

  const page = (): DecodedPage => {
    return { ids, rows: rows.encode(), rejections, nestedRejections, listings, treatment };
  };
  return { addParsed, addAt, page };
}

interface FoundList {
  readonly pagination: ListEnvelope['pagination'];
  /** The place behind the bracket that opens the list of the records, and that of the one that would close it. */
  readonly start: number;
  readonly close: number;
}

const PAGINATION = `"pagination"${SPACE}:${SPACE}(\\{[^{}\\x80-\\xff]*\\})`;
const BEGINNING = new RegExp(
  `^${SPACE}\\{${SPACE}(?:${PAGINATION}${SPACE},${SPACE})?"data"${SPACE}:${SPACE}\\[`,
);
const ENDING = new RegExp(`^\\]${SPACE}(?:,${SPACE}${PAGINATION}${SPACE})?\\}${SPACE}$`);
/** An envelope around its data is a tenth of it. */
const ENVELOPE_BYTES = 2048;

/**
 * Returns the list without parsing its records; null if the bytes around them are not as foreseen, which JSON.parse and
 * the schema of the envelope decide.
 */
function findList(bytes: Buffer): FoundList | null {
  const beginning = BEGINNING.exec(bytes.toString('latin1', 0, ENVELOPE_BYTES));
  const close = bytes.lastIndexOf(CLOSING_BRACKET);
  if (beginning === null || close === -1 || bytes.length - close > ENVELOPE_BYTES) return null;
  const ending = ENDING.exec(bytes.toString('latin1', close));
  if (ending === null) return null;
  const [before, behind] = [beginning[1], ending[1]];
  // JSON.parse would take the second of two.
  if (before !== undefined && behind !== undefined) return null;
  const envelope = listEnvelopeSchema.safeParse({ pagination: parseJson(before ?? behind ?? ''), data: [] });
  if (!envelope.success) return null;
  return { pagination: envelope.data.pagination, start: beginning[0].length, close };
}
