// The command `commissions payable`: what is to be paid now, as sums for people and as a payout file.
//
// Decision: it is not called `due`, since `commissions due ID… --at` changes the program: a command that only reads
// must not be one forgotten word away from one that writes. What is listed here is also less than what is due.

import type { Command } from 'commander';
import { BATCH_COLUMNS } from '../../commissions/files/batch-file.ts';
import type { RawCell } from '../../commissions/files/raw-table.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import type { PersonalDataSettings } from '../../config/personal-data.ts';
import { counted, countedAre, formatCount, formatTimestamp } from '../../contract/format.ts';
import { addAmounts, fractionDigits, spellDecimal } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { ConfigError } from '../../errors.ts';
import {
  type CommissionCoverage,
  findAffiliates,
  type Payable,
  type PayableCommission,
  readCoverage,
  readPayable,
} from '../../reports/read-payable.ts';
import type { Cli } from '../cli.ts';
import { money } from '../commissions/listings.ts';
import { addPayoutFileFlags, openPayoutFile, type PayoutFileFlags } from '../commissions/payout-file.ts';
import { readable, storedForms } from '../commissions/readable-person.ts';
import { openPaymentLedger } from '../commissions/session.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError } from '../output/print.ts';
import { renderTable } from '../output/render-table.ts';
import type { WrittenTable } from '../output/table-writer.ts';
import { parseDate, parseMoment } from '../parse-moment.ts';

interface PayableFlags extends PayoutFileFlags {
  readonly before?: Timestamp;
  readonly affiliate?: readonly string[];
  readonly paidAt?: Timestamp;
}

const HELP = `
Payable is what the mirror has as unpaid and due, by now or --before. Left out,
and counted, is what must not be paid so: a commission for which a request
waits in the payment ledger or a payment failed there, one that was paid
through it before, one whose sale was refunded in full, and one without an
amount or a currency. A payment that failed may have arrived: retry it, or take it back
with unpay.
Where the program does not list its commissions, or they were never read whole,
only the known ones can be covered: the last lines say so, and as of when.

--format and -o write a payout file: each row expects the commission to be
unpaid and its amount to be what it is now. Give --paid-at, or fill in paid_at;
delete what is not to be paid, and apply it. Applied again, whenever and with
whatever paid_at, it pays nothing twice.

Examples:
  $ affiliate-mirror commissions payable
  $ affiliate-mirror commissions payable --before 2026-11-01 \\
      --paid-at 2026-11-05T12:00:00Z -o november.xlsx
  $ affiliate-mirror commissions apply november.xlsx --dry-run`;

export function registerPayable(group: Command, cli: Cli): void {
  const command = group
    .command('payable')
    .description('what is to be paid now, per affiliate and currency, and as a payout file')
    .option('--before <date>', 'due before then; a date alone is its midnight in UTC', parseDate)
    .option('--affiliate <who>', 'identifier or email address; once for each', collectNames)
    .option('--paid-at <moment>', 'fill in paid_at, such as 2026-11-05T12:00:00Z', parseMoment);
  addPayoutFileFlags(command, {
    format: 'write a payout file; default: as -o ends',
    output: 'write the payout file under this name instead of to stdout',
  })
    .addHelpText('after', HELP)
    .action((flags: PayableFlags) => cli.run((lifetime) => showPayable(cli, lifetime, flags)));
}

async function showPayable(cli: Cli, lifetime: Lifetime, flags: PayableFlags): Promise<ExitCode> {
  const { before = null, affiliate, paidAt = null, format, output } = flags;
  const isFileWanted = format !== undefined || output !== undefined;
  if (paidAt !== null && !isFileWanted) {
    throw new ConfigError(['--paid-at is for the payout file: give -o payouts.xlsx, or --format csv']);
  }
  const writeFile = isFileWanted ? await openPayoutFile(flags, lifetime) : null;
  const { db, amountUnit, personalDataSettings } = await openPaymentLedger(cli, lifetime, {
    endsAtOnce: true,
  });
  const affiliateIds =
    affiliate === undefined ? null : await namedAffiliates(db, affiliate, personalDataSettings);
  // Coverage first: a sync that ends in between makes the rows newer than what is said of them, and never older.
  const coverage = await readCoverage(db);
  const { commissions, withheld } = await readPayable(db, { before, affiliateIds });
  const payable = { withheld, commissions: commissions.map(readable) };
  await writeFile?.(makePayouts(payable.commissions, paidAt, amountUnit));
  // Where stdout carries the file, it carries nothing else.
  const isStdoutTaken = isFileWanted && output === undefined;
  const say = isStdoutTaken ? printError : print;
  if (payable.commissions.length > 0) {
    if (!isStdoutTaken) print(renderByAffiliate(payable.commissions, amountUnit));
    say(renderTotals(payable.commissions, amountUnit));
  }
  for (const line of describePayable(payable, before, coverage)) say(line);
  if (output !== undefined) printError(`written: ${output}`);
  return 0;
}

/** Returns the affiliates of these names. Throws: ConfigError where the mirror has none of a name. */
async function namedAffiliates(
  db: Database,
  words: readonly string[],
  settings: PersonalDataSettings,
): Promise<string[]> {
  const found = await Promise.all(words.map((word) => findAffiliates(db, storedForms(word, settings))));
  const unknown = words.filter((_, index) => found[index]?.length === 0);
  if (unknown.length === 0) return found.flat();
  throw new ConfigError(
    unknown.map(
      (word) =>
        `the mirror has no affiliate with the identifier or email address ${word}${settings.mode === 'omit' ? ' (it keeps no addresses: PII=omit)' : ''}`,
    ),
  );
}

function makePayouts(
  commissions: readonly PayableCommission[],
  paidAt: Timestamp | null,
  unit: AmountUnit,
): WrittenTable {
  const rows = commissions.map((commission) => {
    const { commission_id, amount, currency } = commission;
    const cells: Readonly<Record<string, RawCell>> = {
      commission_id,
      action: 'pay',
      paid_at: paidAt,
      expected_paid_at: 'unpaid',
      // As text, with all of its digits: a number 84 could be cents as well.
      expected_amount: spellDecimal(amount, fractionDigits(currency, unit)),
      expected_currency: currency,
    };
    const own = BATCH_COLUMNS.map((name) => cells[name] ?? null);
    return [...own, commission.affiliate_name, commission.affiliate_email];
  });
  return { header: [...BATCH_COLUMNS, 'affiliate_name', 'affiliate_email'], rows };
}

function renderByAffiliate(commissions: readonly PayableCommission[], unit: AmountUnit): string {
  const groups = Map.groupBy(commissions, ({ affiliate_id, currency }) => `${affiliate_id} ${currency}`);
  return renderTable(
    ['affiliate', 'email', 'currency', 'commissions', 'payable'],
    [...groups.values()].flatMap((of) => {
      const [first] = of;
      if (first === undefined) return [];
      const { affiliate_name, affiliate_id, affiliate_email, currency } = first;
      return [
        [
          affiliate_name ?? affiliate_id,
          affiliate_email,
          currency,
          of.length,
          money(sum(of), currency, unit),
        ],
      ];
    }),
    { mayGo: ['currency', 'email', 'commissions'], otherwise: null },
  );
}

function renderTotals(commissions: readonly PayableCommission[], unit: AmountUnit): string {
  const groups = Map.groupBy(commissions, ({ currency }) => currency);
  return renderTable(
    ['currency', 'affiliates', 'commissions', 'payable'],
    [...groups]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([currency, of]) => [
        currency,
        new Set(of.map(({ affiliate_id }) => affiliate_id)).size,
        of.length,
        money(sum(of), currency, unit),
      ]),
    { otherwise: null },
  );
}

function collectNames(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name.trim()];
}

function sum(commissions: readonly PayableCommission[]): bigint {
  return addAmounts(commissions.map(({ amount }) => amount));
}

function describePayable(
  { commissions, withheld }: Payable,
  before: Timestamp | null,
  coverage: CommissionCoverage,
): string[] {
  const count = commissions.length === 0 ? 'nothing is' : countedAre(commissions.length, 'commission');
  const when = before === null ? 'by now' : `before ${formatTimestamp(before)}`;
  return [
    `${count} payable ${when}`,
    ...[...withheld].map(([reason, of]) => `left out although due: ${formatCount(of)} (${reason})`),
    describeCoverage(coverage),
  ];
}

function describeCoverage({
  known,
  isListed,
  everything_as_of,
  changes_as_of,
  polled_as_of,
  not_stored,
}: CommissionCoverage): string {
  const count = counted(known, 'commission');
  if (everything_as_of !== null && changes_as_of !== null) {
    const changes =
      changes_as_of === everything_as_of ? '' : `, with changes as of ${formatTimestamp(changes_as_of)}`;
    const moment = `as of ${formatTimestamp(everything_as_of)}${changes}`;
    return not_stored === 0
      ? `covers all ${count} of the program ${moment}`
      : `covers ${count} of the program ${moment}, and not ${formatCount(not_stored)} that could not be stored (the table rejected_records)`;
  }
  const why = isListed
    ? 'they were never read whole ("affiliate-mirror sync commissions" does it)'
    : 'the program is not known to list them';
  const since = polled_as_of === null ? '' : `, each read since ${formatTimestamp(polled_as_of)}`;
  return `covers only the ${count} that the mirror knows${since}: ${why}`;
}
