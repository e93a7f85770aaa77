// Turns a row that was read into what may be stored of it. This is the one place where the mode is applied; forgotten
// people are kept out by the database (migrations/0012_personal_data.sql).

import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { PersonalKind } from '../contract/declare.ts';
import { COLUMN_NAMES, type MirroredTable } from '../records/mirrored-tables.ts';
import { withoutSpans } from '../records/rows-of-record.ts';
import { PLAIN, type Treatment } from '../records/treatment.ts';
import { treatCoupon, treatFigures } from './json-parts.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import { keptAs } from './stored-state.ts';
import { hashValue, normalise } from './values.ts';

/** The places of each table's personal columns. */
const PLACES = new Map(
  Object.entries(PERSONAL_COLUMNS).map(([table, columns]) => {
    const names = COLUMN_NAMES[table as MirroredTable];
    return [table, Object.entries(columns).map(([column, kind]) => [names.indexOf(column), kind] as const)];
  }),
);

/** Records without an identifier are distinguished by a hash; without a key, by one that holds for this process. */
const OWN_KEY = createSecretKey(randomBytes(32));

/** Returns the treatment of everything that a process with these settings reads. */
export function makeTreatment(settings: PersonalDataSettings): Treatment {
  const { mode, key } = settings;
  if (mode === 'plain') return PLAIN;
  const hashKey = mode === 'hash' ? key : null;
  return {
    kept: keptAs(settings),
    treatRow(row) {
      const { values, ...rest } = withoutSpans(row);
      for (const [place, kind] of PLACES.get(row.table) ?? []) {
        const value = values[place];
        if (value !== undefined && value !== null) values[place] = treatValue(hashKey, kind, value);
      }
      return { ...rest, values, extra: null };
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
