// The command `commissions payable`: what is to be paid now, as sums for people and as a payout file.
//
// Decision: it is not called `due`, since `commissions due ID… --at` changes the program: a command that only reads
// must not be one forgotten word away from one that writes. What is listed here is also less than what is due.

import type { Command } from 'commander';
import { BATCH_COLUMNS } from '../../commissions/files/batch-file.ts';
import type { RawCell } from '../../commissions/files/raw-table.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import type { PersonalDataSettings } from '../../config/personal-data.ts';
import { fractionDigits, spellDecimal } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { ConfigError } from '../../errors.ts';
import { isHashed, storedForms } from '../../personal-data/values.ts';
import {
  type Balance,
  balancesOf,
  findAffiliates,
  type PayableCommission,
  readCoverage,
  readPayable,
} from '../../reports/read-payable.ts';
import type { Cli } from '../cli.ts';
import { describePayable, renderTransfers } from '../commissions/payable-listing.ts';
import { addPayoutFileFlags, openPayoutFile, type PayoutFileFlags } from '../commissions/payout-file.ts';
import { openPaymentLedger } from '../commissions/session.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError } from '../output/print.ts';
import type { WrittenTable } from '../output/table-writer.ts';
import { parseDate, parseMoment } from '../parse-moment.ts';

interface PayableFlags extends PayoutFileFlags {
  readonly before?: Timestamp;
  readonly affiliate?: readonly string[];
  readonly paidAt?: Timestamp;
}

/** What `apply` does not read: for people. */
const AFFILIATE_COLUMNS = ['affiliate_name', 'affiliate_email', 'payout_email', 'wise_email'] as const;

const HELP = `
Payable is what the mirror has as unpaid and due, by now or --before. Left out, and counted, is what must not be paid so,
such as a commission for which a request waits or whose sale was refunded. What is payable to one affiliate in one
currency is a balance; to transfer are those above zero whose affiliate has a payout address.

--format and -o write a payout file: fill in paid_at (or give --paid-at), delete what is not to be paid, and apply it.

Examples:
  $ affiliate-mirror commissions payable
  $ affiliate-mirror commissions payable --before 2026-11-01 \\
      --paid-at 2026-11-05T12:00:00Z -o november.xlsx
  $ affiliate-mirror commissions apply november.xlsx --dry-run

All of it: docs/finance.md`;

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
  const { db, mirrorSchema, amountUnit, personalDataSettings } = await openPaymentLedger(cli, lifetime, {
    endsAtOnce: true,
  });
  const affiliateIds =
    affiliate === undefined ? null : await namedAffiliates(db, affiliate, personalDataSettings);
  // Coverage first: a sync that ends in between makes the rows newer than what is said of them, and never older.
  const coverage = await readCoverage({ db, mirrorSchema });
  const { commissions, withheld } = await readPayable(db, { before, affiliateIds });
  const balances = balancesOf(commissions.map(withoutHashes));
  const transfers = balances.filter(({ obstacle }) => obstacle === null);
  await writeFile?.(makePayouts(transfers, paidAt, amountUnit));
  // Where stdout carries the file, it carries nothing else.
  const isStdoutTaken = isFileWanted && output === undefined;
  const say = isStdoutTaken ? printError : print;
  if (transfers.length > 0 && !isStdoutTaken) print(renderTransfers(transfers, amountUnit));
  for (const text of describePayable({ balances, withheld, before, coverage }, amountUnit)) say(text);
  if (output !== undefined) printError(`written: ${output}`);
  return 0;
}

/** Returns the affiliates of these names. Throws: ConfigError where the mirror has none of a name. */
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

/**
 * Returns the commission as people read it: where the mirror keeps hashes or nothing, with the affiliate's identifier
 * for the name, and without addresses.
 */
function withoutHashes(commission: PayableCommission): PayableCommission {
  const { affiliate_id, affiliate_name, affiliate_email, payout_email, wise_email } = commission;
  const isName = affiliate_name !== null && !affiliate_name.split(' ').some(isHashed);
  const readable = (text: string | null) => (text !== null && isHashed(text) ? null : text);
  return {
    ...commission,
    affiliate_name: isName ? affiliate_name : affiliate_id,
    affiliate_email: readable(affiliate_email),
    payout_email: readable(payout_email),
    wise_email: readable(wise_email),
  };
}

function makePayouts(
  transfers: readonly Balance[],
  paidAt: Timestamp | null,
  unit: AmountUnit,
): WrittenTable {
  const commissions = transfers.flatMap((balance) => balance.commissions);
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
    return [...own, ...AFFILIATE_COLUMNS.map((name) => commission[name])];
  });
  return { header: [...BATCH_COLUMNS, ...AFFILIATE_COLUMNS], rows };
}

function collectNames(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name.trim()];
}
