// Applies the mode of personal data to rows, before they are stored. No other code does. Triggers in the database keep
// forgotten people out (migrations/functions/personal_data.sql).

import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { PersonalDataSettings } from '../../config/program/personal-data.ts';
import type { PersonalKind } from '../../contract/declare.ts';
import { isExactNumber } from '../../contract/exact-number.ts';
import { identifier, timestamp } from '../../contract/fields.ts';
import { COLUMN_NAMES, type MirroredTable } from '../../decode/mirrored-tables.ts';
import { getValue, setValue } from '../../decode/rows.ts';
import { PLAIN, type Treatment } from '../../decode/treatment.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import { storedAs } from './stored-state.ts';
import { hashValue, normalise } from './values.ts';

/** The places of each table's personal columns. */
const PLACES = new Map(
  Object.entries(PERSONAL_COLUMNS).map(([table, columns]) => {
    const names = COLUMN_NAMES[table as MirroredTable];
    return [table, Object.entries(columns).map(([column, kind]) => [names.indexOf(column), kind] as const)];
  }),
);

/** A hash distinguishes records without an identifier. If there is no key, the hash holds for this process only. */
const OWN_KEY = createSecretKey(randomBytes(32));

export function makeTreatment(settings: PersonalDataSettings): Treatment {
  const { mode, key } = settings;
  if (mode === 'plain') return PLAIN;
  const hashKey = mode === 'hash' ? key : null;
  return {
    storedAs: storedAs(settings),
    treatRow(row) {
      for (const [place, kind] of PLACES.get(row.table) ?? []) {
        const value = getValue(row, place);
        if (value !== undefined && value !== null) setValue(row, place, treatValue(hashKey, kind, value));
      }
      return { ...row, extra: null };
    },
    treatRefused(id, payload) {
      const text = JSON.stringify(payload);
      const digest = createHmac('sha256', key ?? OWN_KEY)
        .update(text)
        .digest('hex');
      return { id, left_out: digest };
    },
  };
}

function treatValue(key: KeyObject | null, kind: PersonalKind, value: unknown): unknown {
  switch (kind) {
    case 'pseudonym':
      return value;
    case 'figures':
      return treatFigures(value);
    case 'coupon':
      return treatCoupon(value as object, (name) => storeText(key, name, false));
    case 'text':
      return storeText(key, String(value), false);
    case 'address':
    case 'identity':
      return storeText(key, String(value), true);
  }
}

function storeText(key: KeyObject | null, value: string, isAddress: boolean): string | null {
  if (key === null) return null;
  const normalised = normalise(value, isAddress);
  return normalised === '' ? '' : hashValue(key, normalised);
}

/** The parts of a coupon that are not personal. */
const couponParts = z.object({
  id: identifier.nullish().catch(undefined),
  archived: z.boolean().nullish().catch(undefined),
  archived_at: timestamp.nullish().catch(undefined),
  affiliate_id: identifier.nullish().catch(undefined),
});

/** The code that people type in, and its name at the processor: both are names as a rule (JANE20). */
const NAMED = ['token', 'external_id'] as const;

/** Returns the coupon with its names as `store` returns them, and without fields that the contract does not know. */
export function treatCoupon(coupon: object, store: (value: string) => string | null): object {
  const treated: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(couponParts.parse(coupon))) {
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

/** Returns only the numbers, flags and currency codes of the totals. */
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
