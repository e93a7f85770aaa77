// Reads the text of a list record by record, without parsing all of it: most records are of a form that a reader knows
// and reads by itself, and the others are parsed one by one. Accepts a subset of what is a list; whatever is not as
// foreseen is left to JSON.parse and the schema of the envelope.

import { type ListEnvelope, listEnvelopeSchema } from '../contract/answer-bodies.ts';
import { endOfValue, SPACE } from '../contract/end-of-value.ts';
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
const COMMA = new RegExp(`${SPACE},${SPACE}`, 'y');
const ENDING = new RegExp(`${SPACE}\\]${SPACE}(?:,${SPACE}${PAGINATION}${SPACE})?\\}${SPACE}$`, 'y');

/**
 * Returns the page's envelope, its records as the reader reads them, or in the contract's spelling; null where the
 * text is not as foreseen.
 */
export function readListText(text: string, reader: RecordReader): ListEnvelope | null {
  const beginning = BEGINNING.exec(text);
  if (beginning === null) return null;
  const data: unknown[] = [];
  let at = beginning[0].length;
  if (text[at] !== ']') {
    for (;;) {
      const next = reader.read(text, at) ?? parseRecord(text, at, reader);
      if (next === null) return null;
      data.push(next.record);
      const after = endOf(COMMA, text, next.end);
      at = after ?? next.end;
      if (after === null) break;
    }
  }
  ENDING.lastIndex = at;
  const ending = ENDING.exec(text);
  if (ending === null) return null;
  const [before, behind] = [beginning[1], ending[1]];
  // Of two, JSON.parse would take the second.
  if (before !== undefined && behind !== undefined) return null;
  const envelope = listEnvelopeSchema.safeParse({ pagination: parseJson(before ?? behind ?? ''), data: [] });
  return envelope.success ? { ...envelope.data, data } : null;
}

function parseRecord(text: string, at: number, reader: RecordReader) {
  const end = endOfValue(text, at);
  if (end === null) return null;
  const record = parseJson(text.slice(at, end));
  if (record === undefined) return null;
  reader.learn(record);
  return { record: toContractSpelling(record), end };
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
