// The only place that knows the aliases of fields, and the other spelling of identifiers. Live deployments write the
// processor's and the payout provider's name instead of the contract's neutral words; all other code uses the neutral
// words, and identifiers in lower case. Source: contract, Spelling.

import { isValue } from './declare.ts';
import { lowerCaseId } from './fields.ts';
import { columnsOf, RECORDS } from './records.ts';

/** Spelling seen in the wild → the contract's spelling, which is also the column's name. */
export const WIRE_ALIASES: ReadonlyMap<string, string> = new Map(
  Object.values(RECORDS).flatMap(({ fields }) =>
    columnsOf(fields).flatMap(([name, { alias }]) => (alias === null ? [] : [[alias, name] as const])),
  ),
);

/** More than a commission's sale, its referral, its affiliate, their links: an object nested deeper is no resource. */
const MOST_LEVELS = 10;

/** Its identifier is the processor's. */
const CUSTOMER = 'customer';

/** The fields that may nest a resource. Only these are searched, so that an unknown object keeps its own names. */
const NESTED: readonly string[] = [
  ...new Set(
    Object.values(RECORDS).flatMap(({ fields }) =>
      Object.entries(fields).flatMap(([name, field]) => (isValue(field) ? [] : [name])),
    ),
  ),
];

/**
 * Renames aliases and lowers identifiers, in nested resources too, to a bounded depth: a record that nests thousands of
 * levels must not overflow the stack. The argument is never changed; a value that needs no change is returned as it is.
 * If both spellings are present, the contract's is used and the other stays as an unknown field, so that nothing is
 * lost.
 */
export function toContractSpelling(value: unknown): unknown {
  return rename(value, MOST_LEVELS);
}

function rename(value: unknown, levels: number, hasIdentifier = true): unknown {
  if (levels === 0) return value;
  if (Array.isArray(value)) return mapIfChanged(value, levels);
  if (!isObject(value)) return value;
  let renamed = renameKeys(value);
  const { id } = renamed;
  const lowered = hasIdentifier && typeof id === 'string' ? lowerCaseId(id) : id;
  if (lowered !== id) renamed = { ...renamed, id: lowered };
  for (const key of NESTED) {
    const before = renamed[key];
    if (before === undefined || before === null) continue;
    const after = rename(before, levels - 1, key !== CUSTOMER);
    if (after === before) continue;
    if (renamed === value) renamed = { ...value };
    renamed[key] = after;
  }
  return renamed;
}

function mapIfChanged(values: readonly unknown[], levels: number): unknown {
  const renamed = values.map((value) => rename(value, levels - 1));
  return renamed.some((item, index) => item !== values[index]) ? renamed : values;
}

function renameKeys(object: Record<string, unknown>): Record<string, unknown> {
  if (!hasAlias(object)) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => {
      const neutral = WIRE_ALIASES.get(key);
      return neutral === undefined || Object.hasOwn(object, neutral) ? [key, value] : [neutral, value];
    }),
  );
}

// A loop: an array of the keys of every record takes three times as long.
function hasAlias(object: object): boolean {
  for (const key in object) if (WIRE_ALIASES.has(key)) return true;
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
