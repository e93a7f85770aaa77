// The document of `commissions reconcile --json`.

import { z } from 'zod';
import {
  type CurrencyTotal,
  FINDINGS,
  type Finding,
  type ReconciledRow,
} from '../../commissions/books/reconcile-books.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { count, text, timestamp } from '../../reports/fields.ts';
import { amount, inUnit, sum, UNIT_OF_AMOUNTS } from './amounts.ts';

const finding = z.enum(Object.keys(FINDINGS) as Finding[]).describe(
  Object.entries(FINDINGS)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join('; '),
);

/** A row of the comparison, as JSON and CSV have it. */
export const reconciledRow = z.object({
  line: count('its line in the file; null where the file lacks it').nullable(),
  commission_id: text('identifier of the commission'),
  finding,
  books_paid_at: timestamp('when the books have it as paid').nullable(),
  program_paid_at: timestamp('when the program has it as paid').nullable(),
  books_amount: amount('what the books have it as worth').nullable(),
  program_amount: amount('what the program has it as worth').nullable(),
  books_currency: text('its currency in the books').nullable(),
  program_currency: text('its currency in the program').nullable(),
}) satisfies z.ZodType<ReconciledRow>;

const total = z.object({
  currency: text('of these amounts; ? where neither books nor program name one'),
  finding,
  commissions: count('how many; one that the books have in another currency is in the total of each'),
  books_paid: sum('paid by the books; those without amounts are taken at what the program has'),
  program_paid: sum('paid by the program'),
  difference: sum('paid by the program beyond the books'),
}) satisfies z.ZodType<CurrencyTotal>;

/** The amounts of a row. */
export const AMOUNTS = ['books_amount', 'program_amount'];
/** The amounts of a total. */
export const SUMS = ['books_paid', 'program_paid', 'difference'];

/** Returns the shape of a comparison whose amounts count in the unit. */
export const reconcileDocument = (unit: AmountUnit) =>
  z
    .object({
      totals: z.array(inUnit(total, SUMS, unit)).describe('by currency and finding'),
      rows: z
        .array(inUnit(reconciledRow, AMOUNTS, unit))
        .describe('those of the books in their order, then those that the books lack'),
    })
    .meta({ title: 'affiliate-mirror commissions reconcile --json', description: UNIT_OF_AMOUNTS });

export type ReconcileDocument = z.infer<ReturnType<typeof reconcileDocument>>;
