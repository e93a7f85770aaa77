// Declares each field that the API sends, once: in affiliate.ts, referral.ts, commission.ts and payout.ts. That gives
// the schema, the column's type, the treatment of personal data, the alias, the sandbox's column, value, JSON and
// OpenAPI, and the records of tests and bench. SQL that people read stays SQL; a test names the fields that it lacks.

import { z } from 'zod';
import {
  identifier as identifierSchema,
  integer as integerSchema,
  text as textSchema,
  timestamp as timestampSchema,
} from './fields.ts';

/**
 * `always`: the contract promises a value. `or null`: the contract says that it may be null. `null accepted`: the
 * contract promises a value, but null was seen in the wild or is assumed. `seen in the wild`: the contract does not
 * show the field; it may be null. `expanded`: as `null accepted`, in answers to requests that expand it.
 */
export type Presence = 'always' | 'or null' | 'null accepted' | 'seen in the wild' | 'expanded';

/**
 * `identity`: an address by which a person is known. `address`: one that several people may share, such as that of a
 * company. `text`: any other. `pseudonym`: an identifier at the payment processor, stored until the person is
 * forgotten. `coupon` and `figures`: JSON of which parts are stored.
 */
export type PersonalKind = 'identity' | 'address' | 'text' | 'pseudonym' | 'coupon' | 'figures';

export type Table = 'campaigns' | 'affiliates' | 'links' | 'referrals' | 'sales' | 'commissions' | 'payouts';

export type FieldType = 'identifier' | 'text' | 'timestamp' | 'integer' | 'number' | 'boolean' | 'json';

export interface Field<Schema extends z.ZodType = z.ZodType> {
  readonly type: FieldType;
  /** Includes null if that is accepted. */
  readonly schema: Schema;
  readonly presence: Presence;
  /** One sentence. */
  readonly meaning: string;
  readonly about: PersonalKind | 'none';
  /** Its name in live deployments; null if it is the same. */
  readonly alias: string | null;
}

/** A record in another, or a list of them; or a `part`, which is no record: its fields are columns of its record. */
export interface Nesting<Schema extends z.ZodType = z.ZodType, Inner extends Fields = Fields> {
  readonly type: 'one' | 'list' | 'part';
  readonly schema: Schema;
  readonly presence: Presence;
  /** Of the nested records; null for a part. */
  readonly table: Table | null;
  readonly fields: Inner;
}

export type Fields = Readonly<Record<string, Field | Nesting>>;

export type ValueOf<F extends Field | Nesting> = z.infer<F['schema']>;

/** Returns whether the field is neither a record nor a part. */
export function isValue(field: Field | Nesting): field is Field {
  return 'meaning' in field;
}

/** A kind of record, which has a table of its own. */
export interface RecordDeclaration<F extends Fields, Required extends string> {
  readonly table: Table;
  readonly fields: F;
  readonly schema: SchemaOf<F, Required>;
}

type SchemaOf<F extends Fields, Required extends string> = z.ZodObject<
  { [K in keyof F]: K extends Required ? F[K]['schema'] : z.ZodOptional<F[K]['schema']> },
  z.core.$loose
>;

type OrNull<S extends z.ZodType, P extends Presence> = P extends 'always' ? S : z.ZodNullable<S>;

function orNull<S extends z.ZodType, P extends Presence>(schema: S, presence: P): OrNull<S, P> {
  return (presence === 'always' ? schema : schema.nullable()) as OrNull<S, P>;
}

const makeKind =
  <S extends z.ZodType>(type: FieldType, schema: S) =>
  <P extends Presence = 'always'>(
    meaning: string,
    presence = 'always' as P,
    alias: string | null = null,
    about: Field['about'] = 'none',
  ): Field<OrNull<S, P>> => ({
    type,
    schema: orNull(schema, presence),
    presence,
    meaning,
    about,
    alias,
  });

/** For texts and objects, `about` must be given. */
const makePersonalKind =
  <S extends z.ZodType>(type: FieldType, schema: S) =>
  <P extends Presence = 'always'>(
    about: Field['about'],
    meaning: string,
    presence = 'always' as P,
    alias: string | null = null,
  ) =>
    makeKind(type, schema)(meaning, presence, alias, about);

/** Free text, also for values of an open set. */
export const text = makePersonalKind('text', textSchema);
/** An object whose fields the contract does not show: it is stored whole. */
export const json = makePersonalKind('json', z.record(z.string(), z.unknown()));
export const timestamp = makeKind('timestamp', timestampSchema);
/** A counter or an amount. */
export const integer = makeKind('integer', integerSchema);
/** A number that may have a fraction. */
export const number = makeKind('number', z.number());
export const boolean = makeKind('boolean', z.boolean());

/** The fields that identify a record: one that lacks any of them cannot be stored, and is rejected. */
export const identity = {
  id: makeKind('identifier', identifierSchema)('Identifier.'),
  created_at: timestamp('When it was created.'),
  updated_at: timestamp('When the affiliate program last updated it.'),
};

/**
 * The identity and the `required` fields must be present; any other field may be absent.
 *
 * An absent field says nothing about its value (nested objects are partial views, and a field may vanish from the
 * API): its column does not change. Undeclared fields are preserved.
 */
export function record<F extends Fields, Required extends string = never>(
  table: Table,
  fields: F,
  required: readonly Required[] = [],
): RecordDeclaration<F, Required | keyof typeof identity> {
  return { table, fields, schema: schemaOf(fields, [...Object.keys(identity), ...required]) };
}

/** Returns a field that holds a record. */
export function one<T extends Nestable, P extends Presence>(
  { table, fields, schema }: T,
  presence: P,
): Nesting<OrNull<T['schema'], P>, T['fields']> {
  return { type: 'one', schema: orNull<T['schema'], P>(schema, presence), presence, table, fields };
}

/** Returns a field that holds an array of records. */
export function list<T extends Nestable>(
  { table, fields, schema }: T,
  presence: Presence,
): Nesting<z.ZodArray<T['schema']>, T['fields']> {
  return { type: 'list', schema: z.array(schema), presence, table, fields };
}

/** Returns a field that holds an object which is no record of its own. */
export function part<F extends Fields, P extends Presence>(
  fields: F,
  presence: P,
): Nesting<OrNull<SchemaOf<F, never>, P>, F> {
  return { type: 'part', schema: orNull(schemaOf(fields, []), presence), presence, table: null, fields };
}

interface Nestable {
  readonly table: Table;
  readonly fields: Fields;
  readonly schema: z.ZodType;
}

/** Required fields come first, so that a rejection names the missing ones before any other problem. */
function schemaOf<F extends Fields, Required extends string>(
  fields: F,
  required: readonly string[],
): SchemaOf<F, Required> {
  const [must, may] = [true, false].map((isRequired) =>
    Object.entries(fields).filter(([name]) => required.includes(name) === isRequired),
  );
  const shape = {
    ...Object.fromEntries((must ?? []).map(([name, { schema }]) => [name, schema])),
    ...Object.fromEntries((may ?? []).map(([name, { schema }]) => [name, schema.optional()])),
  };
  return z.looseObject(shape) as unknown as SchemaOf<F, Required>;
}
