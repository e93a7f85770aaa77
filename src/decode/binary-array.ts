// Encodes a column of values in Postgres' own binary form of an array, to be sent as a parameter.
//
// Measured on batches of 1,000 referrals (15 columns), 100,000 in all, reading the parameters alone / with a plain
// insert into the indexed table: json_to_recordset 750 / 1,150 ms, jsonb_to_recordset the same and slower on
// unchanged rows, unnest of text arrays about 500 ms more than json, these binary arrays 440 / 800 ms (of which
// 200 ms are spent here, while Postgres works on the batch before). COPY of the same rows: 720 ms; it would need a
// staging table, and with it a second pass over the rows.

import { splitTimestamp } from '../contract/timestamp.ts';
import { integerAt, microsAt } from './fast/plain-values.ts';
import type { ColumnType } from './mirrored-tables.ts';
import { endOf, getValue, IS_ELSEWHERE, IS_NULL, type MirrorRow, startOf } from './rows.ts';

/** Object identifiers of the element types. Source: pg_type.dat of Postgres. */
const ELEMENT_OID: Readonly<Record<ColumnType, number>> = {
  boolean: 16,
  bigint: 20,
  text: 25,
  'double precision': 701,
  timestamptz: 1184,
  jsonb: 3802,
};

/** Dimensions, null flag, element type, length, lower bound: five 32-bit integers. */
const HEADER_BYTES = 20;
const LENGTH_AT = 12;
const LENGTH_BYTES = 4;
const TWO_TO_32 = 4_294_967_296;
/** 2000-01-01, from which Postgres counts, in milliseconds since 1970. */
const POSTGRES_EPOCH_MS = 946_684_800_000;
/** It precedes the text of jsonb. */
const JSONB_VERSION = '\u0001';
/** The length of null. */
const NULL_SIZE = -1;
const FIXED_SIZE = { boolean: 1, bigint: 8, 'double precision': 8, timestamptz: 8 } as const;

/**
 * Returns the array as a binary parameter. Null and undefined become SQL null; a timestamp is its text, or microseconds
 * since 1970.
 */
export function toBinaryArray(type: ColumnType, values: readonly unknown[]): Buffer {
  const spelled = type === 'jsonb' ? values.map(spellJson) : values;
  return makeArray(type, values.length, {
    sizeAt: (index) => sizeOf(type, spelled[index]),
    writeAt: (buffer, at, index) => writeValue(type, buffer, at, spelled[index]),
  });
}

/**
 * Returns a column of rows as a binary parameter. A value that is still in the bytes of its page is copied from there,
 * if it is a text, or read from its digits.
 */
export function toColumnArray(type: ColumnType, rows: readonly MirrorRow[], place: number): Buffer {
  if (type === 'jsonb') {
    return toBinaryArray(
      type,
      rows.map((row) => getValue(row, place)),
    );
  }
  return makeArray(type, rows.length, {
    sizeAt(index) {
      const row = rows[index] as MirrorRow;
      const start = startOf(row, place);
      if (start === IS_ELSEWHERE) return sizeOf(type, row.values[place]);
      if (start === IS_NULL) return NULL_SIZE;
      return type === 'text' ? endOf(row, place) - start : FIXED_SIZE[type];
    },
    writeAt(buffer, at, index) {
      const row = rows[index] as MirrorRow;
      const start = startOf(row, place);
      if (start === IS_ELSEWHERE) writeValue(type, buffer, at, row.values[place]);
      else writeBytes(type, buffer, at, row, start, endOf(row, place));
    },
  });
}

/** Returns one array of all elements in order. There is at least one array, and all are of one type. */
export function joinBinaryArrays(arrays: readonly Buffer[]): Buffer {
  const joined = Buffer.concat([
    ...arrays.slice(0, 1),
    ...arrays.slice(1).map((array) => array.subarray(HEADER_BYTES)),
  ]);
  const length = arrays.reduce((sum, array) => sum + array.readInt32BE(LENGTH_AT), 0);
  joined.writeInt32BE(length, LENGTH_AT);
  return joined;
}

/** Returns an array of the elements from one place up to another. */
export function sliceBinaryArray(array: Buffer, from: number, to: number): Buffer {
  let [start, at] = [HEADER_BYTES, HEADER_BYTES];
  for (let index = 0; index < to; index += 1) {
    if (index === from) start = at;
    // The length of null is -1.
    at += LENGTH_BYTES + Math.max(0, array.readInt32BE(at));
  }
  const slice = Buffer.concat([array.subarray(0, HEADER_BYTES), array.subarray(start, at)]);
  slice.writeInt32BE(to - from, LENGTH_AT);
  return slice;
}

/**
 * Returns the microseconds since 1970 of a timestamp.
 * Units: exact for the years 1685 to 2255, which include all observations.
 */
export function observationMicros(timestamp: string): number {
  const { ms, micros } = readTimestamp(timestamp);
  return ms * 1000 + micros;
}

interface Elements {
  readonly sizeAt: (index: number) => number;
  readonly writeAt: (buffer: Buffer, at: number, index: number) => void;
}

function makeArray(type: ColumnType, length: number, { sizeAt, writeAt }: Elements): Buffer {
  let size = HEADER_BYTES + length * LENGTH_BYTES;
  for (let index = 0; index < length; index += 1) size += Math.max(0, sizeAt(index));
  const buffer = Buffer.allocUnsafe(size);
  buffer.writeInt32BE(1, 0);
  // The flag that nulls may occur; Postgres checks by itself.
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(ELEMENT_OID[type], 8);
  buffer.writeInt32BE(length, LENGTH_AT);
  buffer.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (let index = 0; index < length; index += 1) {
    const own = sizeAt(index);
    at = buffer.writeInt32BE(own, at);
    if (own === NULL_SIZE) continue;
    writeAt(buffer, at, index);
    at += own;
  }
  return buffer;
}

function spellJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSONB_VERSION + JSON.stringify(value);
}

function sizeOf(type: ColumnType, value: unknown): number {
  if (value === null || value === undefined) return NULL_SIZE;
  return type === 'text' || type === 'jsonb' ? Buffer.byteLength(value as string) : FIXED_SIZE[type];
}

function writeValue(type: ColumnType, buffer: Buffer, at: number, value: unknown): void {
  if (type === 'text' || type === 'jsonb') buffer.write(value as string, at);
  else if (type === 'bigint') writeInt64(buffer, value as number, at);
  else if (type === 'double precision') buffer.writeDoubleBE(value as number, at);
  else if (type === 'boolean') buffer[at] = value === true ? 1 : 0;
  else if (typeof value === 'number') writeMicros(buffer, value, at);
  else writeTimestamp(buffer, value as string, at);
}

/** Writes a value that is in the bytes of its page. */
function writeBytes(
  type: ColumnType,
  buffer: Buffer,
  at: number,
  { bytes }: MirrorRow,
  start: number,
  end: number,
) {
  if (type === 'bigint') writeInt64(buffer, integerAt(bytes, start, end), at);
  else if (type === 'timestamptz') writeMicros(buffer, microsAt(bytes, start), at);
  else {
    // Byte by byte: of texts as short as these, a call of copy takes longer.
    for (let index = 0; index < end - start; index += 1) buffer[at + index] = bytes[start + index] as number;
  }
}

function writeInt64(buffer: Buffer, value: number, at: number): void {
  const high = Math.floor(value / TWO_TO_32);
  buffer.writeInt32BE(high, at);
  buffer.writeUInt32BE(value - high * TWO_TO_32, at + 4);
}

/** Writes a timestamp of so many microseconds since 1970. */
function writeMicros(buffer: Buffer, micros: number, at: number): void {
  writeInt64(buffer, micros - POSTGRES_EPOCH_MS * 1000, at);
}

function writeTimestamp(buffer: Buffer, timestamp: string, at: number): void {
  const { ms, micros } = readTimestamp(timestamp);
  buffer.writeBigInt64BE(BigInt(ms - POSTGRES_EPOCH_MS) * 1000n + BigInt(micros), at);
}

/** Returns whole seconds in milliseconds since 1970, and microseconds: further digits are rounded as Postgres does. */
function readTimestamp(text: string): { ms: number; micros: number } {
  const { ms, fraction } = splitTimestamp(text);
  const micros =
    fraction.length > 6 ? roundToEven(Number(`0.${fraction}`) * 1e6) : Number(fraction.padEnd(6, '0'));
  return { ms, micros };
}

/** Half to the even number. Source: ParseFractionalSecond of Postgres, which is rint() of a double. */
function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
}
