// Encodes one column of rows whose values are partly still in the bytes of their page: a text is copied from there, and
// a timestamp or a number is read from its digits.

import {
  ELEMENT_OID,
  HEADER_BYTES,
  LENGTH_BYTES,
  toBinaryArray,
  writeHeader,
  writeMicros,
} from './binary-array.ts';
import type { ColumnType } from './mirrored-tables.ts';
import { LAST_EXACT_YEAR, microsOf, yearOf } from './plain-bytes.ts';
import type { MirrorRow } from './rows-of-record.ts';
import { endOf, IS_ELSEWHERE, IS_NULL, isInSpans, type Spans, startOf, valueAt } from './spans.ts';

/** In an array of Postgres, the length of what is null. */
const NULL_LENGTH = -1;
const TIMESTAMP_BYTES = 8;

/** Returns the column as a binary parameter. */
export function toColumnArray(type: ColumnType, rows: readonly MirrorRow[], place: number): Buffer {
  const isAnyInSpans = rows.some(({ spans }) => isInSpans(spans, place));
  if (type === 'text' && isAnyInSpans) return encodeTexts(rows, place);
  if (type === 'timestamptz' && rows.every(({ spans }) => isExactInSpans(spans, place))) {
    return encodeTimestamps(rows, place);
  }
  return toBinaryArray(
    type,
    rows.map(({ values, spans }) => (isInSpans(spans, place) ? valueAt(spans, type, place) : values[place])),
  );
}

/** Returns whether there is a timestamp, of which a number holds the microseconds, or null. */
function isExactInSpans(spans: Spans, place: number): boolean {
  const start = startOf(spans, place);
  return start === IS_NULL || (start !== IS_ELSEWHERE && yearOf(spans.bytes, start) <= LAST_EXACT_YEAR);
}

/** Reads each twice from its bytes and keeps none: toBinaryArray would take an object for each number. */
function encodeTimestamps(rows: readonly MirrorRow[], place: number): Buffer {
  let size = HEADER_BYTES;
  for (const { spans } of rows) {
    size += LENGTH_BYTES + (startOf(spans, place) === IS_NULL ? 0 : TIMESTAMP_BYTES);
  }
  const buffer = Buffer.allocUnsafe(size);
  writeHeader(buffer, ELEMENT_OID.timestamptz, rows.length);
  let at = HEADER_BYTES;
  for (const { spans } of rows) {
    const start = startOf(spans, place);
    if (start === IS_NULL) at = buffer.writeInt32BE(NULL_LENGTH, at);
    else {
      buffer.writeInt32BE(TIMESTAMP_BYTES, at);
      writeMicros(buffer, microsOf(spans.bytes, start), at + LENGTH_BYTES);
      at += LENGTH_BYTES + TIMESTAMP_BYTES;
    }
  }
  return buffer;
}

function encodeTexts(rows: readonly MirrorRow[], place: number): Buffer {
  let size = HEADER_BYTES;
  for (const row of rows) size += LENGTH_BYTES + Math.max(0, lengthOf(row, place));
  const buffer = Buffer.allocUnsafe(size);
  writeHeader(buffer, ELEMENT_OID.text, rows.length);
  let at = HEADER_BYTES;
  for (const row of rows) {
    const length = lengthOf(row, place);
    at = buffer.writeInt32BE(length, at);
    if (length === NULL_LENGTH) continue;
    const { spans, values } = row;
    const start = startOf(spans, place);
    if (start === IS_ELSEWHERE) buffer.write(values[place] as string, at);
    else {
      // Byte by byte: of texts as short as these, a call of copy takes longer.
      for (let index = 0; index < length; index += 1)
        buffer[at + index] = spans.bytes[start + index] as number;
    }
    at += length;
  }
  return buffer;
}

/** Returns how many bytes the text has; NULL_LENGTH where it is null. */
function lengthOf({ spans, values }: MirrorRow, place: number): number {
  const start = startOf(spans, place);
  if (start >= 0) return endOf(spans, place) - start;
  const value = start === IS_NULL ? null : values[place];
  return typeof value === 'string' ? Buffer.byteLength(value) : NULL_LENGTH;
}
