// Of columns that hold JSON of the program's, the parts that are no personal data.

import { z } from 'zod';
import { isExactNumber } from '../contract/exact-number.ts';
import { identifier, timestamp } from '../contract/fields.ts';

const kept = z.object({
  id: identifier.nullish().catch(undefined),
  archived: z.boolean().nullish().catch(undefined),
  archived_at: timestamp.nullish().catch(undefined),
  affiliate_id: identifier.nullish().catch(undefined),
});

/** What people type in, and what the processor calls it: both are names as a rule (JANE20). */
const NAMED = ['token', 'external_id'] as const;

/** Returns the coupon with its names as `store` has them, and without fields that nobody knows. */
export function treatCoupon(coupon: object, store: (value: string) => string | null): object {
  const treated: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(kept.parse(coupon))) {
    if (value !== undefined) treated[field] = value;
  }
  for (const field of NAMED) {
    if (!(field in coupon)) continue;
    const value = (coupon as Record<string, unknown>)[field];
    treated[field] = typeof value === 'string' ? store(value) : null;
  }
  return treated;
}

/** Names of fields and codes of currencies; no address and no sentence. */
const PLAIN_NAME = /^[A-Za-z_]{1,40}$/;
const CURRENCY = /^[A-Za-z]{3}$/;

/** Returns the totals with their numbers, flags and currency codes alone. */
export function treatFigures(value: unknown): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean' || isExactNumber(value)) {
    return value;
  }
  if (typeof value === 'string') return CURRENCY.test(value) ? value : null;
  if (Array.isArray(value)) return value.map(treatFigures);
  if (typeof value !== 'object') return null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      PLAIN_NAME.test(name) ? [[name, treatFigures(inner)]] : [],
    ),
  );
}
