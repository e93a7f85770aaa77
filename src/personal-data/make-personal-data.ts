// Treats what was read of the program before it is kept: rows, and records that were refused.

import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { COLUMN_NAMES, type MirroredTable } from '../records/mirrored-tables.ts';
import type { PersonalData, Recognised } from '../records/personal-data.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import { mentionsForgotten, type Rule, recordKey } from './rule.ts';
import { treatFields } from './treat-fields.ts';

/** Why a reason or a payload is not there. */
export const LEFT_OUT = {
  hash: 'left out (PII=hash)',
  omit: 'left out (PII=omit)',
  forgotten: 'left out: it names somebody who was forgotten',
} as const;

/** The places of the columns that treatFields looks at. */
const PLACES = new Map(
  Object.entries(PERSONAL_COLUMNS).map(([table, columns]) => {
    const names = COLUMN_NAMES[table as MirroredTable];
    const looked = [...Object.keys(columns), 'affiliate_id'].filter((column) => names.includes(column));
    return [table, looked.map((column) => [column, names.indexOf(column)] as const)];
  }),
);

/** Records without an identifier are distinguished by a hash; without a key, by one that holds for this process. */
const OWN_KEY = createSecretKey(randomBytes(32));

/** Returns the treatment of what is read from now on; `stamp` is the database's own (kept_personal_data). */
export function makePersonalData(known: Rule, stamp: string): PersonalData {
  const { mode } = known;
  /** Also for what is read before they are noted, and belongs to them. */
  const keys = new Set<string>();
  const recognised: Recognised[] = [];
  const rule: Rule = {
    ...known,
    recognised: {
      has: (table, id) => keys.has(recordKey(table, id)),
      add(record) {
        keys.add(recordKey(record.table, record.id));
        recognised.push(record);
      },
    },
  };
  return {
    stamp,
    recognised,
    mayQuote: mode === 'plain',
    treatRow(row) {
      const places = PLACES.get(row.table) ?? [];
      const fields: Record<string, unknown> = { _extra: row.extra };
      for (const [column, place] of places) fields[column] = row.values[place];
      const treated = treatFields(rule, { table: row.table, id: row.id, fields, isStored: false });
      if (treated === null) return row;
      for (const [column, place] of places) {
        if (column in treated) row.values[place] = treated[column];
      }
      return '_extra' in treated ? { ...row, extra: null } : row;
    },
    treatRefused({ id, reason, payload }) {
      const text = JSON.stringify(payload);
      const isOfForgotten = mentionsForgotten(rule, text);
      if (mode === 'plain' && !isOfForgotten) return { reason, payload };
      const digest = createHmac('sha256', rule.key ?? OWN_KEY)
        .update(text)
        .digest('hex');
      return {
        // In the other modes no reason quotes anything.
        reason: mode === 'plain' ? LEFT_OUT.forgotten : reason,
        payload: { id, left_out: digest },
      };
    },
  };
}
