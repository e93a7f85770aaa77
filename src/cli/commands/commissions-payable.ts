// The command `commissions payable`: the payable commissions, as sums for people and as a payout file.
//
// Decision: it is not called `due`, since `commissions due ID… --at` changes the program: a command that only reads
// must not be one forgotten word away from one that writes. Also, not everything that is due is listed here.

import type { Command } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import type { PersonalDataSettings } from '../../config/program/personal-data.ts';
import { formatDay } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { storedForms } from '../../mirror/people/values.ts';
import { PAYEE_COLUMNS } from '../../payments/files/status-column.ts';
import {
  balancesOf,
  findAffiliates,
  type PayableCommission,
  readCoverage,
  readPayable,
} from '../../reports/read-payable.ts';
import type { Cli, CommandFile } from '../cli.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError } from '../output/print.ts';
import type { WrittenFormat, WrittenTable } from '../output/table-writer.ts';
import { momentOf, parseDate, parseMoment } from '../parse-moment.ts';
import { describePayable, describeSums, renderTransfers } from '../payments/payable-listing.ts';
import { withoutHashes } from '../payments/payees.ts';
import {
  addPayoutFileFlags,
  makePayoutTable,
  openPayoutFile,
  type PayoutFileFlags,
  payoutColumns,
} from '../payments/payout-file.ts';
import { openPaymentLedger } from '../payments/session.ts';

interface PayableFlags extends PayoutFileFlags {
  readonly before?: string;
  readonly affiliate?: readonly string[];
  readonly paidAt?: Timestamp;
}

const HELP = `
Payable are the commissions that the mirror has as unpaid and due, by now or --before. Those that must not be paid are
counted and left out, such as one with a waiting request or a refunded sale. The payable commissions of one affiliate in
one currency are a balance; to transfer are the balances above zero whose affiliate has a payout address.
Those that a payout covers too are counted, and the file names it.

--format and -o write a payout file: fill in paid_at (or give --paid-at), delete the rows not to pay, and apply it.

Examples:
  $ affiliate-mirror commissions payable
  $ affiliate-mirror commissions payable --before 2026-11-01 \\
      --paid-at 2026-11-05T12:00:00Z -o november.xlsx
  $ affiliate-mirror commissions apply november.xlsx --dry-run

All of it: docs/finance.md`;

export const command: CommandFile = {
  register,
};

function register(group: Command, cli: Cli): void {
  const command = group
    .command('payable')
    .description('what is to be paid now, per affiliate and currency, and as a payout file')
    .option('--before <date>', 'due before then; a date alone is its midnight in DISPLAY_TIMEZONE', parseDate)
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
  const { affiliate, paidAt = null, format, output } = flags;
  const isFileWanted = format !== undefined || output !== undefined;
  if (paidAt !== null && !isFileWanted) {
    throw new ConfigError(['--paid-at is for the payout file: give -o payouts.xlsx, or --format csv']);
  }
  const writeFile = isFileWanted ? await openPayoutFile(flags, lifetime) : null;
  const program = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
  const { db, money, personalData } = program;
  const before = flags.before === undefined ? null : momentOf(flags.before);
  const affiliateIds = affiliate === undefined ? null : await namedAffiliates(db, affiliate, personalData);
  // Coverage first: if a sync ends in between, the rows are newer than the coverage says, and never older.
  const coverage = await readCoverage(program);
  const { commissions, withheld } = await readPayable(db, { before, affiliateIds });
  const balances = balancesOf(commissions.map(withoutHashes));
  const transfers = balances.filter(({ obstacle }) => obstacle === null);
  const paid = transfers.flatMap((balance) => balance.commissions);
  await writeFile?.((fileFormat) => makePayouts(paid, { paidAt, money, format: fileFormat }));
  // Then stdout carries only the file.
  const isStdoutTaken = isFileWanted && output === undefined;
  const say = isStdoutTaken ? printError : print;
  if (transfers.length > 0 && !isStdoutTaken) print(renderTransfers(transfers, money));
  for (const text of describePayable({ balances, withheld, before, coverage }, money)) say(text);
  if (output !== undefined) printError(`written: ${output} (${describeSums(paid, money)})`);
  return 0;
}

/** Returns the affiliates of these names. Throws: ConfigError if the mirror has none of a name. */
async function namedAffiliates(
  db: Database,
  words: readonly string[],
  settings: PersonalDataSettings,
): Promise<string[]> {
  // The mirror may have an affiliate under the hash of the address.
  const found = await Promise.all(
    words.map((word) => findAffiliates(db, [word, ...storedForms(settings, word)])),
  );
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
  { paidAt, money, format }: { paidAt: Timestamp | null; money: MoneyFormat; format: WrittenFormat },
): WrittenTable {
  return makePayoutTable(commissions, {
    payees: PAYEE_COLUMNS,
    columns: payoutColumns(format).filter((name) => name !== 'due_at'),
    money,
    cellsOf: (commission) => ({
      ...commission,
      due_date: commission.due_at === null ? null : new Date(formatDay(commission.due_at)),
      action: 'pay',
      paid_at: paidAt,
      expected_paid_at: 'unpaid',
    }),
  });
}

function collectNames(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name.trim()];
}
