// Encodes a column of values in Postgres' own binary form of an array, to be sent as a parameter.
//
// Measured on batches of 1,000 referrals (15 columns), 100,000 in all, reading the parameters alone / with a plain
// insert into the indexed table: json_to_recordset 750 / 1,150 ms, jsonb_to_recordset the same and slower on
// unchanged rows, unnest of text arrays about 500 ms more than json, these binary arrays 440 / 800 ms (of which
// 200 ms are spent here, while Postgres works on the batch before). COPY of the same rows: 720 ms; it would need a
// staging table, and with it a second pass over the rows.

import { splitTimestamp } from '../contract/timestamp.ts';
import type { ColumnType } from './mirrored-tables.ts';

/** Object identifiers of the element types. Source: pg_type.dat of Postgres. */
export const ELEMENT_OID: Readonly<Record<ColumnType, number>> = {
  boolean: 16,
  bigint: 20,
  text: 25,
  'double precision': 701,
  timestamptz: 1184,
  jsonb: 3802,
};

/** Dimensions, null flag, element type, length, lower bound: five 32-bit integers. */
export const HEADER_BYTES = 20;
const LENGTH_AT = 12;
export const LENGTH_BYTES = 4;
const TWO_TO_32 = 4_294_967_296;
/** 2000-01-01, from which Postgres counts, in milliseconds since 1970. */
const POSTGRES_EPOCH_MS = 946_684_800_000;
const JSONB_VERSION = 1;

/**
 * Returns the array as a binary parameter. Null and undefined become SQL null; a timestamp is its text, or microseconds
 * since 1970.
 */
export function toBinaryArray(type: ColumnType, values: readonly unknown[]): Buffer {
  switch (type) {
    case 'text':
      return encodeTexts(ELEMENT_OID.text, values as (string | null | undefined)[], '');
    case 'jsonb':
      return encodeTexts(
        ELEMENT_OID.jsonb,
        values.map((value) => (value === null || value === undefined ? null : JSON.stringify(value))),
        String.fromCharCode(JSONB_VERSION),
      );
    case 'bigint':
      return encodeFixed(ELEMENT_OID.bigint, 8, values, (buffer, value, at) =>
        writeInt64(buffer, value as number, at),
      );
    case 'double precision':
      return encodeFixed(ELEMENT_OID['double precision'], 8, values, (buffer, value, at) =>
        buffer.writeDoubleBE(value as number, at),
      );
    case 'timestamptz':
      return encodeFixed(ELEMENT_OID.timestamptz, 8, values, (buffer, value, at) =>
        typeof value === 'number'
          ? writeMicros(buffer, value, at)
          : writeTimestamp(buffer, value as string, at),
      );
    case 'boolean':
      return encodeFixed(ELEMENT_OID.boolean, 1, values, (buffer, value, at) =>
        buffer.writeUInt8(value === true ? 1 : 0, at),
      );
  }
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
    // Of null, the length is -1.
    at += LENGTH_BYTES + Math.max(0, array.readInt32BE(at));
  }
  const slice = Buffer.concat([array.subarray(0, HEADER_BYTES), array.subarray(start, at)]);
  slice.writeInt32BE(to - from, LENGTH_AT);
  return slice;
}

/**
 * Returns the microseconds since 1970 of a timestamp.
 * Units: exact for the years 1685 to 2255, which is where observations are.
 */
export function observationMicros(timestamp: string): number {
  const { ms, micros } = readTimestamp(timestamp);
  return ms * 1000 + micros;
}

// The array is put together as a string of one character per byte, and written in one go: writing each value by itself
// takes twice as long.
function encodeTexts(oid: number, values: readonly (string | null | undefined)[], before: string): Buffer {
  let bytes = '';
  for (const value of values) {
    if (value === null || value === undefined) bytes += NULL_LENGTH;
    else {
      const own = before + (IS_ASCII.test(value) ? value : Buffer.from(value).toString('latin1'));
      bytes += lengthOf(own) + own;
    }
  }
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  writeHeader(buffer, oid, values.length);
  buffer.write(bytes, HEADER_BYTES, 'latin1');
  return buffer;
}

const IS_ASCII = /^[\0-\x7f]*$/;
const NULL_LENGTH = '\xff\xff\xff\xff';
/** Of most values; others are made anew each time. */
const SHORT_LENGTHS = Array.from({ length: 256 }, (_, length) => spellLength(length));

function lengthOf({ length }: string): string {
  return SHORT_LENGTHS[length] ?? spellLength(length);
}

function spellLength(length: number): string {
  return String.fromCharCode(length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255);
}

function encodeFixed(
  oid: number,
  size: number,
  values: readonly unknown[],
  write: (buffer: Buffer, value: unknown, at: number) => void,
): Buffer {
  const present = values.filter((value) => value !== null && value !== undefined).length;
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * LENGTH_BYTES + present * size);
  writeHeader(buffer, oid, values.length);
  let at = HEADER_BYTES;
  // By index: an iterator makes an object for each number.
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (value === null || value === undefined) {
      buffer.writeInt32BE(-1, at);
      at += LENGTH_BYTES;
    } else {
      buffer.writeInt32BE(size, at);
      write(buffer, value, at + LENGTH_BYTES);
      at += LENGTH_BYTES + size;
    }
  }
  return buffer;
}

/** Writes what every array begins with. `oid` is that of its elements. */
export function writeHeader(buffer: Buffer, oid: number, length: number): void {
  buffer.writeInt32BE(1, 0);
  // The flag that nulls may occur; Postgres looks for itself.
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(length, LENGTH_AT);
  buffer.writeInt32BE(1, 16);
}

function writeInt64(buffer: Buffer, value: number, at: number): void {
  const high = Math.floor(value / TWO_TO_32);
  buffer.writeInt32BE(high, at);
  buffer.writeUInt32BE(value - high * TWO_TO_32, at + 4);
}

/** Writes a timestamp of so many microseconds since 1970. */
export function writeMicros(buffer: Buffer, micros: number, at: number): void {
  writeInt64(buffer, micros - POSTGRES_EPOCH_MS * 1000, at);
}

function writeTimestamp(buffer: Buffer, timestamp: string, at: number): void {
  const { ms, micros } = readTimestamp(timestamp);
  const value = (ms - POSTGRES_EPOCH_MS) * 1000 + micros;
  if (Number.isSafeInteger(value)) writeInt64(buffer, value, at);
  else buffer.writeBigInt64BE(BigInt(ms - POSTGRES_EPOCH_MS) * 1000n + BigInt(micros), at);
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
