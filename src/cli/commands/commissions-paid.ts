// The command `commissions paid`: who was paid in a month or another span, in which currency and how much.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import { counted } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import { displayZone } from '../../contract/time-zone.ts';
import { cellOfAmount } from '../../exports/formats/workbook-text.ts';
import { type PaidLine, readPaid, spanOfMonth, thisMonth } from '../../reports/read-paid.ts';
import { readCoverage } from '../../reports/read-payable.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { inTimeZone } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError } from '../output/print.ts';
import { renderTable } from '../output/render-table.ts';
import { amountFormat, type WrittenTable } from '../output/table-writer.ts';
import { parseDate } from '../parse-moment.ts';
import { parseTimeZone } from '../payments/file-flags.ts';
import { amountCell } from '../payments/listings.ts';
import { describeCoverage } from '../payments/payable-listing.ts';
import { withoutHashes } from '../payments/payees.ts';
import { addPayoutFileFlags, openPayoutFile, type PayoutFileFlags } from '../payments/payout-file.ts';
import { openPaymentLedger } from '../payments/session.ts';

interface PaidFlags extends PayoutFileFlags {
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
  readonly timezone?: string;
}

const HELP = `
Counted are the commissions that the mirror has as paid within these days, here or elsewhere. Without a span, it is the
present month. Days begin and end in --timezone, else DISPLAY_TIMEZONE, else SYNC_TIMEZONE.

Examples:
  $ affiliate-mirror commissions paid
  $ affiliate-mirror commissions paid --month 2026-11 --timezone Europe/Berlin -o november.xlsx

All of it: docs/finance.md`;

export const command: CommandFile = {
  register,
};

function register(group: Command, cli: Cli): void {
  const command = group
    .command('paid')
    .description('what was paid in a month, per currency and affiliate')
    .addOption(
      new Option('--month <month>', 'such as 2026-11').argParser(parseMonth).conflicts(['from', 'to']),
    )
    .option('--from <day>', 'the first day, such as 2026-11-01', parseDay)
    .option('--to <day>', 'the last day', parseDay)
    .option('--timezone <zone>', 'of the days', parseTimeZone);
  addPayoutFileFlags(command, {
    format: 'write a file; default: as -o ends',
    output: 'write the file under this name instead of to stdout',
  })
    .addHelpText('after', HELP)
    .action((flags: PaidFlags) =>
      cli.run((lifetime) => showPaid(inTimeZone(cli, flags.timezone), lifetime, flags)),
    );
}

async function showPaid(cli: Cli, lifetime: Lifetime, flags: PaidFlags): Promise<ExitCode> {
  const { format, output, month, from = null, to = null } = flags;
  if (from !== null && to !== null && from > to)
    throw new ConfigError([`--from ${from} is after --to ${to}`]);
  const isFileWanted = format !== undefined || output !== undefined;
  const writeFile = isFileWanted ? await openPayoutFile(flags, lifetime) : null;
  const program = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
  const { money } = program;
  const asked = month ?? (from === null && to === null ? thisMonth() : null);
  const span = asked === null ? { from, before: to === null ? null : dayAfter(to) } : spanOfMonth(asked);
  // Coverage first: the rows are then newer than it says, and never older.
  const coverage = await readCoverage(program);
  const { rows } = await readPaid(program, { ...span, isFull: true, most: null });
  const totals = rows.filter(({ is_total }) => is_total);
  const lines = rows.filter(({ is_total }) => !is_total).map(withoutHashes);
  await writeFile?.(() => makeFile(lines, money));
  const say = isFileWanted && output === undefined ? printError : print;
  if (lines.length > 0) {
    if (say === print) print(renderLines(lines, money));
    say(renderLines(totals, money));
  }
  const count = totals.reduce((sum, { commissions }) => sum + commissions, 0);
  const days = [from !== null && `from ${from}`, to !== null && `to ${to}`].filter(Boolean).join(' ');
  const when = asked === null ? days : `in ${asked}`;
  const what =
    count === 0 ? 'nothing was' : `${counted(count, 'commission')} ${count === 1 ? 'was' : 'were'}`;
  say(`${what} paid ${when} (${displayZone()})`);
  say(describeCoverage(coverage));
  if (output !== undefined) printError(`written: ${output} (${counted(lines.length, 'row')})`);
  return 0;
}

function renderLines(lines: readonly PaidLine[], money: MoneyFormat): string {
  return renderTable(
    ['affiliate', 'email', 'currency', 'commissions', 'paid'],
    lines.map((line) => [
      line.is_total ? 'all' : (line.affiliate_name ?? null),
      line.affiliate_email ?? null,
      line.currency,
      line.commissions,
      amountCell(BigInt(line.amount), line.currency, money),
    ]),
  );
}

function makeFile(lines: readonly PaidLine[], money: MoneyFormat): WrittenTable {
  const digitsOf = ({ currency }: PaidLine) => (currency === null ? 0 : money.digitsOf(currency));
  const digits = Math.max(0, ...lines.map(digitsOf));
  return {
    header: ['affiliate_name', 'affiliate_email', 'affiliate_id', 'currency', 'commissions', 'amount_major'],
    rows: lines.map((line) => [
      ...[line.affiliate_name ?? null, line.affiliate_email ?? null, line.affiliate_id],
      ...[line.currency, line.commissions, cellOfAmount(BigInt(line.amount), digitsOf(line))],
    ]),
    formats: new Map([['amount_major', amountFormat(digits)]]),
  };
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

function parseDay(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    throw new InvalidArgumentError('It must be a day, such as 2026-11-01.');
  }
  return parseDate(text);
}

function parseMonth(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) {
    throw new InvalidArgumentError('It must be a month, such as 2026-11.');
  }
  return text;
}
