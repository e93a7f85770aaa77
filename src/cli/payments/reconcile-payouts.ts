// Compares a payment provider's file with the mirrored payouts (`commissions reconcile FILE --by payout`).

import { z } from 'zod';
import { ConfigError, ListNotServed } from '../../base/errors.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { AmountUnit, MoneyFormat } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import { readUsedLists } from '../../mirror/optional-lists.ts';
import { storedForms } from '../../mirror/people/values.ts';
import {
  type MatchedPayout,
  matchPayouts,
  PAYOUT_FINDINGS,
  type PayoutFinding,
  payoutTotals,
} from '../../payments/books/match-payouts.ts';
import { isDifference } from '../../payments/books/reconcile-books.ts';
import type { FindingTotal } from '../../payments/books/sum-findings.ts';
import { readPaymentsFile } from '../../payments/files/payments-file.ts';
import { describeProblems } from '../../payments/files/raw-table.ts';
import { count, text } from '../../reports/fields.ts';
import { findPayees, readPaidPayouts } from '../../reports/read-paid-payouts.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import { inUnit, nameAmounts, UNIT_OF_AMOUNTS } from '../documents/commissions.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { isForPeople, type Listing, type OutputFlags, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import { type FileFlags, fileOptions } from './file-flags.ts';
import { lineOf, recordsOf } from './listings.ts';
import {
  AMOUNTS,
  comparedColumns,
  comparedFields,
  comparedSums,
  findingShape,
  renderTotals,
  SUMS,
} from './reconcile-listing.ts';
import { openPaymentLedger } from './session.ts';

const finding = findingShape<PayoutFinding>(PAYOUT_FINDINGS);

const matchedPayout = z.object({
  line: count('its line in the file; null if the file lacks it').nullable(),
  affiliate: text('the affiliate, as the file has it; null if the file lacks it').nullable(),
  affiliate_id: text('the affiliate; null if the mirror has none, or several share the address').nullable(),
  payout_id: text('identifier of the payout; null if there is none').nullable(),
  finding,
  state: text('state of the payout: paid or processing, as of the last sync').nullable(),
  ...comparedFields,
}) satisfies z.ZodType<MatchedPayout>;

const total = z.object({
  currency: text('of these amounts; ? if neither file nor API name one'),
  finding,
  count: count('how many payments or payouts'),
  ...comparedSums,
}) satisfies z.ZodType<FindingTotal<PayoutFinding>>;

/** Returns the shape of a comparison whose amounts count in the unit. */
export const payoutsReconcileDocument = (unit: AmountUnit) =>
  z
    .object({
      totals: z.array(inUnit(total, SUMS, unit)).describe('by currency and finding'),
      rows: z
        .array(inUnit(matchedPayout, AMOUNTS, unit))
        .describe('those of the file in their order, then payouts that the file lacks'),
    })
    .meta({
      title: 'affiliate-mirror commissions reconcile --by payout --json',
      description: UNIT_OF_AMOUNTS,
    });

type PayoutsReconcileDocument = z.infer<ReturnType<typeof payoutsReconcileDocument>>;

/**
 * Compares the file with the payouts of the mirror, and prints what was found. Payments and payouts before `since` are
 * left out.
 *
 * Throws: ConfigError if the file has a problem; ListNotServed if payouts are not mirrored.
 */
export async function reconcilePayouts(
  cli: Cli,
  lifetime: Lifetime,
  { path, bytes, since }: { path: string; bytes: Uint8Array; since: Timestamp | null },
  flags: FileFlags & OutputFlags,
): Promise<ExitCode> {
  const { money } = readCliConfig(cli).program;
  const file = await readPaymentsFile(bytes, fileOptions(flags, money));
  for (const note of file.notes) printError(note);
  if (file.problems.length > 0) {
    throw new ConfigError([`nothing was compared with ${path}`, ...describeProblems(file.problems)]);
  }
  const { db, personalData } = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
  if (!(await readUsedLists(db)).includes('payouts')) {
    throw new ListNotServed(
      'payouts are not mirrored, so there is nothing to compare with: "affiliate-mirror status" says whether the API lists them',
    );
  }
  const isWanted = ({ paid_at }: { paid_at: string | null }) =>
    since === null || paid_at === null || Date.parse(paid_at) >= Date.parse(since);
  const payments = file.rows.filter(isWanted);
  // The mirror may have an address as its hash.
  const payees = await findPayees(
    db,
    payments.map(({ affiliate }) => [affiliate, ...storedForms(personalData, affiliate)]),
  );
  const rows = matchPayouts(
    payments.map((payment, index) => ({ ...payment, affiliateIds: payees[index] ?? [] })),
    await readPaidPayouts(db, { since }),
  );
  return report(rows, file.unpaid, flags, money);
}

function report(
  rows: readonly MatchedPayout[],
  unpaid: number,
  flags: OutputFlags,
  money: MoneyFormat,
): ExitCode {
  const totals = payoutTotals(rows);
  const differing = rows.filter(isDifference);
  const listing: Listing<MatchedPayout> = {
    rows: isForPeople(flags) ? differing : rows,
    table: {
      line: lineOf,
      affiliate: ({ affiliate, affiliate_id }) => affiliate ?? affiliate_id,
      payout: ({ payout_id }) => payout_id,
      finding: ({ finding }) => finding,
      ...comparedColumns(money),
    },
    ...recordsOf(matchedPayout, AMOUNTS, money),
    documentOf: (records): PayoutsReconcileDocument => ({
      totals: totals.map((one) => nameAmounts(one, SUMS, money.unit)),
      rows: records,
    }),
  };
  printListing(listing, flags);
  if (isForPeople(flags)) print(renderTotals(totals, 'payouts', money));
  const verb = differing.length === 1 ? 'differs' : 'differ';
  printError(
    `${counted(rows.length, 'payout')} compared, as of the last sync: ${formatCount(differing.length)} ${verb}`,
  );
  if (unpaid > 0) printError(`${counted(unpaid, 'row')} left out: a blank paid_at means unpaid`);
  const bare = rows.filter(({ line, books_amount }) => line !== null && books_amount === null).length;
  if (bare > 0) {
    printError(
      `no amount was compared of ${counted(bare, 'payment')}: if a column has it, give --map amount=NAME`,
    );
  }
  return differing.length > 0 ? 3 : 0;
}
