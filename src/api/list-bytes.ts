// Reads the bytes of a list record by record, without parsing all of it: most records are of a form that a reader knows
// and reads by itself, and the others are parsed one by one. Accepts a subset of what is a list; whatever is not as
// foreseen is left to JSON.parse and the schema of the envelope.

import { type ListEnvelope, listEnvelopeSchema } from '../contract/answer-bodies.ts';
import { CLOSING_BRACKET, COMMA, parseAt, SPACE, skipSpace } from '../contract/json-bytes.ts';
import { parseJson } from '../contract/parse-json.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';

/** Reads records by their bytes, which are UTF-8. Of what is no JSON it reads nothing. */
export interface RecordReader {
  /** Returns the record that begins at the place, and the place after it; null where it is to be parsed. */
  read(bytes: Buffer, at: number): { readonly record: unknown; readonly end: number } | null;
  /** To be called with each record that was parsed, as it came, and its place: the next of its form may be read. */
  learn(record: unknown, bytes: Buffer, at: number): void;
}

const PAGINATION = `"pagination"${SPACE}:${SPACE}(\\{[^{}\\x80-\\xff]*\\})`;
const BEGINNING = new RegExp(
  `^${SPACE}\\{${SPACE}(?:${PAGINATION}${SPACE},${SPACE})?"data"${SPACE}:${SPACE}\\[${SPACE}`,
);
const ENDING = new RegExp(`^\\]${SPACE}(?:,${SPACE}${PAGINATION}${SPACE})?\\}${SPACE}$`);
/** An envelope around its data is a tenth of it. */
const ENVELOPE_BYTES = 2048;

/**
 * Returns the page's envelope, its records as the reader reads them, or in the contract's spelling; null where the
 * bytes are not as foreseen.
 */
export function readListBytes(bytes: Buffer, reader: RecordReader): ListEnvelope | null {
  const beginning = BEGINNING.exec(bytes.toString('latin1', 0, ENVELOPE_BYTES));
  // Looked at first, so that no page is read in vain whose envelope has more in it.
  const close = bytes.lastIndexOf(CLOSING_BRACKET);
  if (beginning === null || close === -1 || bytes.length - close > ENVELOPE_BYTES) return null;
  const ending = ENDING.exec(bytes.toString('latin1', close));
  if (ending === null) return null;
  const [before, behind] = [beginning[1], ending[1]];
  // Of two, JSON.parse would take the second.
  if (before !== undefined && behind !== undefined) return null;
  const envelope = listEnvelopeSchema.safeParse({ pagination: parseJson(before ?? behind ?? ''), data: [] });
  if (!envelope.success) return null;
  const data = readRecords(bytes, beginning[0].length, close, reader);
  return data === null ? null : { ...envelope.data, data };
}

/** Returns the records from the place to the bracket that closes them; null where they are no list. */
function readRecords(bytes: Buffer, start: number, close: number, reader: RecordReader): unknown[] | null {
  const data: unknown[] = [];
  let at = start;
  while (at !== close || data.length > 0) {
    const next = reader.read(bytes, at) ?? parseRecord(bytes, at, reader);
    if (next === null) return null;
    data.push(next.record);
    const after = skipSpace(bytes, next.end);
    if (after === close) break;
    if (bytes[after] !== COMMA) return null;
    at = skipSpace(bytes, after + 1);
  }
  return data;
}

function parseRecord(bytes: Buffer, at: number, reader: RecordReader) {
  const parsed = parseAt(bytes, at);
  if (parsed === null) return null;
  reader.learn(parsed.value, bytes, at);
  return { record: toContractSpelling(parsed.value), end: parsed.end };
}
