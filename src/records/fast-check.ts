// Makes a fast check that passes only what its schema accepts and Postgres can store. What it does not pass is left to
// the schema, which also says why: so the contract is in one place, and most records take the fast path.
//
// Measured on 100,000 referrals: zod with its own search for unstorable text 430 ms, this 90 ms.

import { z } from 'zod';
import { isExactNumber } from '../contract/exact-number.ts';
import { identifier, integer, text, timestamp } from '../contract/fields.ts';
import { findTimestampProblem } from '../contract/timestamp.ts';
import { findUnstorable } from './unstorable.ts';

export type FastCheck = (value: unknown) => boolean;

/** NUL, and every half of a surrogate pair: whether the other half is there is left to the schema. */
const PERHAPS_UNSTORABLE = /[\0\ud800-\udfff]/;
const CHECKS: ReadonlyMap<unknown, FastCheck> = new Map<unknown, FastCheck>([
  [identifier, (value) => typeof value === 'string' && z.regexes.guid.test(value)],
  [integer, Number.isSafeInteger],
  [text, (value) => typeof value === 'string' && !PERHAPS_UNSTORABLE.test(value)],
  [timestamp, (value) => typeof value === 'string' && findTimestampProblem(value) === null],
]);

/**
 * Returns the fast check of a schema. Of an object it looks at the fields that the schema names; others may hold
 * anything, unstorable text included.
 */
export function makeFastCheck(schema: z.core.$ZodType): FastCheck {
  const check = CHECKS.get(schema);
  if (check !== undefined) return check;
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === 'boolean';
  if (schema instanceof z.ZodNullable) {
    const inner = makeFastCheck(schema.unwrap());
    return (value) => value === null || inner(value);
  }
  if (schema instanceof z.ZodOptional) {
    const inner = makeFastCheck(schema.unwrap());
    return (value) => value === undefined || inner(value);
  }
  if (schema instanceof z.ZodObject) return makeObjectCheck(schema);
  // One level deep, as in its record.
  return (value) =>
    !isExactNumber(value) && z.safeParse(schema, value).success && findUnstorable([value]) === null;
}

function makeObjectCheck(schema: z.ZodObject): FastCheck {
  const fields = Object.entries(schema.shape).map(([name, field]) => ({
    name,
    check: makeFastCheck(field),
  }));
  // A number that is kept as its text is an object without these fields: it passes where none is required.
  const mayBeEmpty = fields.every(({ check }) => check(undefined));
  return (value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
    if (mayBeEmpty && isExactNumber(value)) return false;
    for (const { name, check } of fields) {
      if (!check((value as Record<string, unknown>)[name])) return false;
    }
    return true;
  };
}
