// The amounts of documents: whole numbers, under names that say their unit.

import { z } from 'zod';
import type { AmountUnit } from '../../config/amount-unit.ts';

/** What a published schema says of the unit: it has the names of the default. */
export const UNIT_OF_AMOUNTS =
  'Amounts are whole numbers in the unit that their names end in: _minor, or with AFFILIATE_AMOUNT_UNIT=cent or =major instead _cent or _major. Nothing else depends on it.';

export const amount = (meaning: string) => z.int().describe(meaning);

/**
 * Returns the shape of amounts added up: a bigint here, and in JSON a number that may be beyond those of JavaScript.
 */
export const sum = (meaning: string) =>
  z
    .number()
    .refine(Number.isInteger)
    .meta({ type: 'integer', description: meaning }) as unknown as z.ZodType<bigint>;

/** Returns the shape with the amounts named as they are printed. */
export function inUnit(shape: z.ZodObject, names: readonly string[], unit: AmountUnit): z.ZodType<object> {
  return z.object(sayUnit(shape.shape, names, unit));
}

/** Returns the record for programs, its amounts under names that say their unit: amount becomes amount_minor. */
export function sayUnit<T>(
  record: Readonly<Record<string, T>> | object,
  names: readonly string[],
  unit: AmountUnit,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [names.includes(name) ? `${name}_${unit}` : name, value]),
  );
}
