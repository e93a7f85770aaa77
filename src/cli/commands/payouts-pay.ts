// The command `payouts pay`: payouts by their identifiers, or from a file.

import { type Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import { identifier } from '../../contract/fields.ts';
import { refuseTakenKeys } from '../../payments/ask/ask-rows.ts';
import { PAYOUT_COLUMNS, readPayoutBatch } from '../../payments/files/payout-batch.ts';
import { plainPayout } from '../../payments/payout-request.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { addFileFlags, type FileFlags, fileOptions, readInput } from '../payments/file-flags.ts';
import { type QueueFlags, queueUpdates } from '../payments/queue.ts';
import { openForRequests, refuseUnlistedPayouts } from '../payments/session.ts';
import { type QueueFileFlags, queueGoodRows } from './commissions-apply.ts';
import { addQueueFlags } from './commissions-request.ts';

interface PayFlags extends QueueFlags, FileFlags, QueueFileFlags {
  readonly reason?: string;
  readonly evenIfRefunded?: true;
}

const HELP = `
The file is CSV or an Excel workbook (.xlsx), as "payouts list -o" writes it. Its columns:
${PAYOUT_COLUMNS.join(', ')}.
payout_id is required. Right before a payout is paid it is read: if its amount, currency or number of commissions is not
what was expected, or a commission of it is refunded, voided, paid or has a request that waits, nothing is sent and the
request ends as conflict. The API dates the payment itself, and a payout cannot be taken back as a whole.
A row that was asked for before is not asked for again; --again asks anew.

Examples:
  $ affiliate-mirror payouts pay 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11 --dry-run
  $ affiliate-mirror payouts pay november.xlsx --wait --result done.xlsx`;

export const command: CommandFile = { register };

function register(group: Command, cli: Cli): void {
  const command = group
    .command('pay')
    .description('have payouts paid, each with all of its commissions')
    .argument('<what...>', 'identifiers of payouts, or one file: CSV or .xlsx; - reads standard input')
    .option('--reason <text>', 'why; kept in the payment ledger')
    .option('--skip-invalid', 'queue the good rows of a file that has bad ones')
    .option('--again', 'ask anew for rows that were asked for before')
    .option('--even-if-refunded', 'pay also those with refunded or voided commissions')
    .option('--result <path>', 'write your rows and their outcomes: .csv or .xlsx');
  addQueueFlags(addFileFlags(command, PAYOUT_COLUMNS))
    .addHelpText('after', HELP)
    .action((what: readonly string[], flags: PayFlags) =>
      cli.run((lifetime) => pay(cli, lifetime, what, flags)),
    );
}

async function pay(
  cli: Cli,
  lifetime: Lifetime,
  what: readonly string[],
  flags: PayFlags,
): Promise<ExitCode> {
  const isId = (text: string) => identifier.safeParse(text.trim()).success;
  const [first = ''] = what;
  const even_if_refunded = flags.evenIfRefunded === true;
  if (what.length === 1 && !isId(first)) {
    const { money } = readCliConfig(cli).program;
    const read = await readPayoutBatch(await readInput(first, lifetime.signal), {
      ...fileOptions(flags, money),
      evenIfRefunded: even_if_refunded,
      reason: flags.reason ?? null,
    });
    const session = await openForRequests(cli, lifetime, flags);
    await refuseUnlistedPayouts(session.program);
    return await queueGoodRows(
      session,
      lifetime,
      first,
      await refuseTakenKeys(session.program.db, read),
      flags,
    );
  }
  const wrong = what.find((text) => !isId(text));
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} must be the UUID of a payout.`);
  if (flags.result !== undefined) throw new ConfigError(['--result is for a file of payouts: give one']);
  const session = await openForRequests(cli, lifetime, flags);
  await refuseUnlistedPayouts(session.program);
  const rows = [...new Set(what.map((text) => text.trim().toLowerCase()))].map((payout_id) => ({
    line: null,
    request: plainPayout({ payout_id, reason: flags.reason ?? null, even_if_refunded }),
    hasOwnKey: false,
  }));
  return await queueUpdates(session, rows, flags, 'payouts');
}
