// The command `payouts list`: the payouts that are to be paid, for people and as the file for `payouts pay`.

import type { Command } from 'commander';
import { z } from 'zod';
import { countedAre } from '../../contract/format.ts';
import { addAmounts, type MoneyFormat } from '../../contract/money.ts';
import { readableName } from '../../mirror/people/values.ts';
import { PAYOUT_COLUMNS } from '../../payments/files/payout-batch.ts';
import { type DuePayout, duePayout, readPayoutsDue } from '../../reports/read-payouts-due.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { inUnit, UNIT_OF_AMOUNTS } from '../documents/commissions.ts';
import { isForPeople, type Listing, type OutputFlags, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import { renderTable } from '../output/render-table.ts';
import type { WrittenFormat, WrittenTable } from '../output/table-writer.ts';
import { amountCell, recordsOf } from '../payments/listings.ts';
import {
  addPayoutFileFlags,
  makePayoutTable,
  openPayoutFile,
  type PayoutFileFlags,
  payoutColumns,
} from '../payments/payout-file.ts';
import { openPaymentLedger, refuseUnlistedPayouts } from '../payments/session.ts';

const HELP = `
As of the last sync: each payout that is not paid, and their sums. -o writes those that are due as a file: delete the rows
not to pay, and give it to "payouts pay". Its expectations are what is shown here; a payout that has changed by then is
not paid.

Examples:
  $ affiliate-mirror payouts list
  $ affiliate-mirror payouts list -o november.xlsx`;

const document = z
  .object({ payouts: z.array(inUnit(duePayout, ['amount'], 'minor')) })
  .meta({ title: 'affiliate-mirror payouts list --json', description: UNIT_OF_AMOUNTS });

export const command: CommandFile = { register, documents: { 'payouts-due': document } };

function register(group: Command, cli: Cli): void {
  addPayoutFileFlags(
    group
      .command('list')
      .description('what is due per affiliate and currency, and as a file for "payouts pay"')
      .option('--json', 'print JSON'),
    { format: 'write the file; default: as -o ends', output: 'write the file under this name' },
  )
    .addHelpText('after', HELP)
    .action((flags: PayoutFileFlags & OutputFlags) =>
      cli.run(async (lifetime) => {
        const isFileWanted = flags.format !== undefined || flags.output !== undefined;
        const writeFile = isFileWanted ? await openPayoutFile(flags, lifetime) : null;
        const program = await openPaymentLedger(cli, lifetime, { endsAtOnce: true });
        await refuseUnlistedPayouts(program);
        const { db, money } = program;
        const payouts = (await readPayoutsDue(db)).map(withoutHashes);
        const due = payouts.filter(({ state, request }) => state === 'due' && request === null);
        await writeFile?.((format) => makeFile(due, money, format));
        if (flags.output !== undefined) printError(`written: ${flags.output}`);
        if (isFileWanted) return 0;
        const listing: Listing<DuePayout> = {
          rows: payouts,
          documentOf: (listed) => ({ payouts: listed }),
          table: {
            payout: ({ payout_id }) => payout_id,
            affiliate: ({ affiliate_name, affiliate_id }) => affiliate_name ?? affiliate_id,
            'payout address': ({ payout_address }) => payout_address,
            state: ({ state }) => state,
            commissions: ({ commissions }) => commissions,
            amount: ({ amount, currency }) => amountCell(amount, currency, money),
            'refunded or voided': ({ refunded }) => refunded,
            'requests that wait': ({ waiting, request }) => waiting + (request === null ? 0 : 1),
          },
          ...recordsOf(duePayout, ['amount'], money),
        };
        printListing(listing, flags);
        if (isForPeople(flags) && payouts.length > 0) print(renderSums(payouts, money));
        printError(
          `${payouts.length === 0 ? 'no payout is' : countedAre(payouts.length, 'payout')} to be paid`,
        );
        return 0;
      }),
    );
}

/** Names first, for people who check the file. */
const PAYEE = ['affiliate_name', 'payout_address'];

function makeFile(due: readonly DuePayout[], money: MoneyFormat, format: WrittenFormat): WrittenTable {
  return makePayoutTable(due, {
    payees: PAYEE,
    columns: payoutColumns(format, PAYOUT_COLUMNS),
    money,
    cellsOf: (payout) => ({ ...payout, expected_commissions: payout.commissions }),
  });
}

function renderSums(payouts: readonly DuePayout[], money: MoneyFormat): string {
  const groups = [...Map.groupBy(payouts, ({ currency }) => currency)];
  return renderTable(
    ['currency', 'affiliates', 'payouts', 'commissions', 'amount'],
    groups
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([currency, of]) => [
        currency,
        new Set(of.map(({ affiliate_id }) => affiliate_id)).size,
        of.length,
        of.reduce((sum, { commissions }) => sum + commissions, 0),
        amountCell(addAmounts(of.map(({ amount }) => amount)), currency, money),
      ]),
  );
}

function withoutHashes(payout: DuePayout): DuePayout {
  const { affiliate_name, payout_address } = payout;
  return {
    ...payout,
    affiliate_name: readableName(affiliate_name),
    payout_address: readableName(payout_address),
  };
}
