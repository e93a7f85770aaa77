// Reads the text of a list record by record, without parsing all of it: most records are of a form that a reader knows
// and reads by itself, and the others are parsed one by one. Accepts a subset of what is a list; whatever is not as
// foreseen is left to JSON.parse and the schema of the envelope.

import { type ListEnvelope, listEnvelopeSchema } from '../contract/answer-bodies.ts';
import { endOfMatch, parseAt, SPACE } from '../contract/json-text.ts';
import { parseJson } from '../contract/parse-json.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';

/** Reads records by their text. Of what is no JSON it reads nothing. */
export interface RecordReader {
  /** Returns the record whose text begins at the place, and the place after it; null where it is to be parsed. */
  read(text: string, at: number): { readonly record: unknown; readonly end: number } | null;
  /** To be called with each record that was parsed, as it came: the next of its form may be read. */
  learn(record: unknown): void;
}

const PAGINATION = `"pagination"${SPACE}:${SPACE}(\\{[^{}]*\\})`;
const BEGINNING = new RegExp(
  `^${SPACE}\\{${SPACE}(?:${PAGINATION}${SPACE},${SPACE})?"data"${SPACE}:${SPACE}\\[${SPACE}`,
);
const BLANK = new RegExp(SPACE, 'y');
const COMMA = new RegExp(`${SPACE},${SPACE}`, 'y');
const ENDING = new RegExp(`\\]${SPACE}(?:,${SPACE}${PAGINATION}${SPACE})?\\}${SPACE}$`, 'y');

/**
 * Returns the page's envelope, its records as the reader reads them, or in the contract's spelling; null where the
 * text is not as foreseen.
 */
export function readListText(text: string, reader: RecordReader): ListEnvelope | null {
  const beginning = BEGINNING.exec(text);
  // Looked at first, so that no page is read in vain whose envelope has more in it.
  const close = text.lastIndexOf(']');
  ENDING.lastIndex = close;
  const ending = ENDING.exec(text);
  if (beginning === null || ending === null) return null;
  const [before, behind] = [beginning[1], ending[1]];
  // Of two, JSON.parse would take the second.
  if (before !== undefined && behind !== undefined) return null;
  const envelope = listEnvelopeSchema.safeParse({ pagination: parseJson(before ?? behind ?? ''), data: [] });
  if (!envelope.success) return null;
  const data = readRecords(text, beginning[0].length, close, reader);
  return data === null ? null : { ...envelope.data, data };
}

/** Returns the records from the place to the bracket that closes them; null where they are no list. */
function readRecords(text: string, start: number, close: number, reader: RecordReader): unknown[] | null {
  const data: unknown[] = [];
  let at = start;
  while (at !== close || data.length > 0) {
    const next = reader.read(text, at) ?? parseRecord(text, at, reader);
    if (next === null) return null;
    data.push(next.record);
    if (endOfMatch(BLANK, text, next.end) === close) break;
    const after = endOfMatch(COMMA, text, next.end);
    if (after === null) return null;
    at = after;
  }
  return data;
}

function parseRecord(text: string, at: number, reader: RecordReader) {
  const parsed = parseAt(text, at);
  if (parsed === null) return null;
  reader.learn(parsed.value);
  return { record: toContractSpelling(parsed.value), end: parsed.end };
}
