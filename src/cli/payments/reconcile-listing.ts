// The comparison of the books with the API, as it is printed: its document and its listing.

import { z } from 'zod';
import { withLocalTimes } from '../../contract/format.ts';
import type { AmountUnit, MoneyFormat } from '../../contract/money.ts';
import type { ComparedRow } from '../../payments/books/compare-books.ts';
import { type CurrencyTotal, FINDINGS, type Finding } from '../../payments/books/reconcile-books.ts';
import type { FindingTotal } from '../../payments/books/sum-findings.ts';
import { count, text, timestamp } from '../../reports/fields.ts';
import { amount, inUnit, nameAmounts, sum, UNIT_OF_AMOUNTS } from '../documents/commissions.ts';
import type { Listing } from '../output/format.ts';
import { renderTable } from '../output/render-table.ts';
import { amountCell, lineOf, recordsOf } from './listings.ts';

/** Returns the shape of a finding with the meaning of each. */
export function findingShape<F extends string>(findings: Readonly<Record<F, string>>): z.ZodType<F> {
  const meanings = Object.entries(findings).map(([name, meaning]) => `${name}: ${meaning}`);
  return z.enum(Object.keys(findings) as [F, ...F[]]).describe(meanings.join('; '));
}

const finding = findingShape<Finding>(FINDINGS);

/** What books and API have, side by side. */
export const comparedFields = {
  books_paid_at: timestamp('when the books have it as paid').nullable(),
  program_paid_at: timestamp('when the API has it as paid').nullable(),
  books_amount: amount('its amount in the books').nullable(),
  program_amount: amount('its amount in the API').nullable(),
  books_currency: text('its currency in the books').nullable(),
  program_currency: text('its currency in the API').nullable(),
};

/** The sums of both, and what the API has beyond the books. */
export const comparedSums = {
  books_paid: sum('paid by the books; null if they do not name each amount').nullable(),
  program_paid: sum('paid by the API'),
  difference: sum('paid by the API beyond the books; null if the books do not name each amount').nullable(),
};

/** A row of the comparison, as JSON and CSV have it. */
const reconciledRow = z.object({
  line: count('its line in the file; null if the file lacks it').nullable(),
  commission_id: text('identifier of the commission'),
  finding,
  ...comparedFields,
  accepted: text('why the difference was accepted; null if it was not').nullable(),
}) satisfies z.ZodType<ComparedRow>;

const total = z.object({
  currency: text('of these amounts; ? if neither books nor API name one'),
  finding,
  commissions: count('how many; one that the books have in another currency is in the total of each'),
  ...comparedSums,
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

type ReconcileDocument = z.infer<ReturnType<typeof reconcileDocument>>;

type Compared = z.infer<z.ZodObject<typeof comparedFields>>;

/** Returns the columns of what books and API have. */
export function comparedColumns(money: MoneyFormat): Listing<Compared>['table'] {
  return {
    'books: paid': ({ books_paid_at }) => books_paid_at && withLocalTimes(books_paid_at),
    'API: paid': ({ program_paid_at }) => program_paid_at && withLocalTimes(program_paid_at),
    // Books without a currency count in the API's.
    'books: amount': ({ books_amount, books_currency, program_currency }) =>
      amountCell(books_amount, books_currency ?? program_currency, money),
    'API: amount': ({ program_amount, program_currency }) =>
      amountCell(program_amount, program_currency, money),
  };
}

/** Its document has the totals too. */
export function reconcileListing(
  rows: readonly ComparedRow[],
  totals: readonly CurrencyTotal[],
  money: MoneyFormat,
): Listing<ComparedRow> {
  return {
    rows,
    table: {
      line: lineOf,
      commission: ({ commission_id }) => commission_id,
      finding: ({ finding }) => finding,
      ...comparedColumns(money),
      ...(rows.some(({ accepted }) => accepted !== null) && {
        accepted: ({ accepted }: ComparedRow) => accepted,
      }),
    },
    ...recordsOf(reconciledRow, AMOUNTS, money),
    documentOf: (records): ReconcileDocument => ({
      totals: totals.map((total) => nameAmounts(total, SUMS, money.unit)),
      rows: records,
    }),
  };
}

/** `counted` is what the totals count. */
export function renderTotals(
  totals: readonly FindingTotal<string>[],
  counted: string,
  money: MoneyFormat,
): string {
  return renderTable(
    ['currency', 'finding', counted, 'paid by the books', 'paid by the API', 'difference'],
    totals.map((total) => [
      total.currency,
      total.finding,
      total.count,
      amountCell(total.books_paid, total.currency, money),
      amountCell(total.program_paid, total.currency, money),
      amountCell(total.difference, total.currency, money),
    ]),
  );
}
