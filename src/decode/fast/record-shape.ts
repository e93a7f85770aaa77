// The members of one kind of record as an API writes them: a member is its name, with all bytes between it and the
// value before, and the reader of its value. An API writes them in the same order and with the same space in every
// record, so each member remembers which one followed it last, and mostly finds its bytes there again. Otherwise the
// name is read.

import type { z } from 'zod';
import { type Field, type Fields, type FieldType, isValue } from '../../contract/declare.ts';
import { isExactNumber } from '../../contract/exact-number.ts';
import { lowerCaseId } from '../../contract/fields.ts';
import { RECORDS } from '../../contract/records.ts';
import { toContractSpelling, WIRE_ALIASES } from '../../contract/wire-aliases.ts';
import { COLUMN_NAMES, type MirroredTable } from '../mirrored-tables.ts';
import { IS_NULL, type MirrorRow } from '../rows.ts';
import { findUnstorable } from '../unstorable.ts';
import { endOfLiteral, NOWHERE, parseAt, SPACE } from './json-bytes.ts';
import type { NestedRecord } from './nested-cache.ts';
import { endOfNull, FIND_END, type FindEnd } from './plain-values.ts';

/** The row of a record while it is read. */
export interface Reading extends MirrorRow {
  id: string;
  extra: Extra;
  /** The places of nested records that are still to be read, in the order of the kind's nestings. */
  readonly nested: (NestedPlace | undefined)[];
  /** The bits of the fields that the record has. */
  seen: number;
  /** `affiliate.` and the like of a nested record. */
  readonly prefix: string;
}

type Extra = Record<string, unknown> | null;

export interface NestedPlace {
  readonly start: number;
  readonly end: number;
  /** The nested record that was read before from the same bytes. */
  readonly known: NestedRecord | undefined;
}

/** Reads the value that begins at the place into the record, and returns the place after it; NOWHERE if it cannot. */
export type ReadValue = (into: Reading, at: number) => number;

export interface Shape {
  /** The bits of the fields that every record has. */
  readonly required: number;
  readonly fields: ReadonlyMap<string, KnownField>;
  /** The members that were met, by their bytes. */
  readonly members: Map<string, Member>;
  /** Comes before the first member of a record. */
  readonly start: Member;
}

interface KnownField {
  readonly bit: number;
  readonly read: ReadValue;
}

interface Member extends KnownField {
  readonly before: Buffer;
  /** It is no member but the bracket that closes the record. */
  readonly isEnd: boolean;
  next: Member | null;
}

const CANNOT_READ: ReadValue = () => NOWHERE;
const NO_FIELD: KnownField = { bit: 0, read: CANNOT_READ };

/** Returns the shape of a table's records. `readNested` returns the reader of a field with nested records. */
export function makeShape(table: MirroredTable, readNested: (field: string) => ReadValue): Shape {
  const { fields, schema }: { fields: Fields; schema: z.ZodObject } = RECORDS[table];
  const placeOf = (column: string) => COLUMN_NAMES[table].indexOf(column);
  let [bits, required] = [0, 0];
  const makeField = (read: ReadValue): KnownField => {
    bits += 1;
    return { bit: 1 << bits, read };
  };
  const readColumn = (name: string, before: string, field: Fields[string]) => {
    return isValue(field) ? readField(field, placeOf(before + name)) : CANNOT_READ;
  };
  const known = Object.entries(fields).map(([name, field]): [string, KnownField] => {
    if (field.type === 'one' || field.type === 'list') return [name, makeField(readNested(name))];
    if (field.type !== 'part') {
      const made = makeField(readColumn(name, '', field));
      if (schema.shape[name]?.safeParse(undefined).success === false) required |= made.bit;
      return [name, made];
    }
    const inner = Object.entries(field.fields).map(([part, value]): [string, KnownField] => {
      return [part, makeField(readColumn(part, `${name}_`, value))];
    });
    const places = inner.map(([part]) => placeOf(`${name}_${part}`));
    return [name, makeField(readPart(name, shapeOf(new Map(inner), 0), places))];
  });
  return shapeOf(new Map(known), required);
}

function shapeOf(fields: Shape['fields'], required: number): Shape {
  return { required, fields, members: new Map(), start: makeMember('', NO_FIELD) };
}

/** Reads the object that begins at the place, and returns the place after it; NOWHERE if it cannot. */
export function readMembers(shape: Shape, into: Reading, start: number): number {
  const { bytes } = into;
  let [last, at] = [shape.start, start];
  for (;;) {
    let member = last.next;
    let valueAt = member === null ? NOWHERE : endOfLiteral(bytes, at, member.before);
    if (member === null || valueAt === NOWHERE) {
      member = findMember(shape, bytes, at, last === shape.start);
      if (member === null) return NOWHERE;
      last.next = member;
      valueAt = at + member.before.length;
    }
    if (member.isEnd) return valueAt;
    // If a field is there twice, or in both spellings, the parser knows which one counts.
    if ((into.seen & member.bit) !== 0) return NOWHERE;
    into.seen |= member.bit;
    at = member.read(into, valueAt);
    if (at === NOWHERE) return NOWHERE;
    last = member;
  }
}

/** A name with an escape is left to the parser. */
const NAME = `"([^"\\\\\\x00-\\x1f]*)"${SPACE}:${SPACE}`;
const FIRST = new RegExp(`^\\{${SPACE}(?:${NAME}|\\})`);
const NEXT = new RegExp(`^${SPACE}(?:,${SPACE}${NAME}|\\})`);
const LONGEST_MEMBER = 200;
/** An API that sends data as field names must not fill the memory. */
const MEMBERS_KEPT = 200;

function findMember(shape: Shape, bytes: Buffer, at: number, isFirst: boolean): Member | null {
  const [before, name] =
    (isFirst ? FIRST : NEXT).exec(bytes.toString('latin1', at, at + LONGEST_MEMBER)) ?? [];
  if (before === undefined) return null;
  const met = shape.members.get(before);
  if (met !== undefined) return met;
  const member = makeMember(before, name === undefined ? NO_FIELD : fieldOf(shape, name));
  if (shape.members.size < MEMBERS_KEPT) shape.members.set(before, member);
  return member;
}

function makeMember(before: string, field: KnownField): Member {
  return { ...field, before: Buffer.from(before, 'latin1'), isEnd: field === NO_FIELD, next: null };
}

function fieldOf({ fields }: Shape, latin1: string): KnownField {
  const name = Buffer.from(latin1, 'latin1').toString();
  const field = WIRE_ALIASES.get(name) ?? name;
  return fields.get(field) ?? { bit: 0, read: readUnknown(field) };
}

/** Returns the reader of a value into its column: its place in the bytes if it is plain, otherwise parsed. */
function readField({ type, schema, presence }: Field, place: number): ReadValue {
  const findEnd = (FIND_END as Partial<Record<FieldType, FindEnd>>)[type] ?? (() => NOWHERE);
  const quote = type === 'integer' ? 0 : 1;
  const mayBeNull = presence !== 'always';
  return ({ bytes, bounds, values }, at) => {
    const nullEnd = mayBeNull ? endOfNull(bytes, at) : NOWHERE;
    if (nullEnd !== NOWHERE) {
      bounds[place * 2] = IS_NULL;
      return nullEnd;
    }
    const end = findEnd(bytes, at);
    if (end !== NOWHERE) {
      bounds[place * 2] = at + quote;
      bounds[place * 2 + 1] = end - quote;
      return end;
    }
    const parsed = parseAt(bytes, at);
    // One level deep, as in its record.
    if (
      parsed === null ||
      !schema.safeParse(parsed.value).success ||
      findUnstorable([parsed.value]) !== null
    ) {
      return NOWHERE;
    }
    // To a schema such a number is an object.
    if (isExactNumber(parsed.value)) return NOWHERE;
    values[place] = type === 'identifier' ? lowerCaseId(parsed.value as string) : parsed.value;
    return parsed.end;
  };
}

/** Returns the reader of the customer, whose fields are columns of its record. */
function readPart(name: string, shape: Shape, places: readonly number[]): ReadValue {
  return (into, at) => {
    const nullEnd = endOfNull(into.bytes, at);
    if (nullEnd !== NOWHERE) {
      for (const place of places) into.bounds[place * 2] = IS_NULL;
      return nullEnd;
    }
    const { extra } = into;
    into.extra = null;
    const end = readMembers(shape, into, at);
    into.extra = into.extra === null ? extra : { ...extra, [name]: into.extra };
    return end;
  };
}

/** Returns the reader of a field that the contract does not know. */
function readUnknown(name: string): ReadValue {
  // No name of a property that every object has: __proto__ cannot be set as others are.
  if (name in Object.prototype) return CANNOT_READ;
  return (into, at) => {
    const parsed = parseAt(into.bytes, at);
    into.extra ??= {};
    if (parsed === null || name in into.extra) return NOWHERE;
    // It may be named after a record that others nest. Two levels deep, as in a customer.
    const value = (toContractSpelling({ [name]: parsed.value }) as Record<string, unknown>)[name];
    if (findUnstorable([[value]]) !== null) return NOWHERE;
    into.extra[name] = value;
    return parsed.end;
  };
}
