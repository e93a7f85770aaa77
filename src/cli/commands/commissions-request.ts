// The commands `commissions pay`, `unpay` and `due`: requests for single commissions.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { identifier } from '../../contract/fields.ts';
import type { Action } from '../../contract/payment-request.ts';
import { spellToTheSecond } from '../../contract/timestamp.ts';
import { readClock } from '../../db/clock.ts';
import { plainRequest, type UpdateRequest } from '../../payments/update-request.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { dryRunDocument, requestsDocument } from '../documents/commissions.ts';
import { addOutputFlags } from '../output/format.ts';
import { parseMoment } from '../parse-moment.ts';
import { type QueueFlags, queueUpdates } from '../payments/queue.ts';
import { openForRequests } from '../payments/session.ts';

interface RequestFlags extends QueueFlags {
  readonly at?: string;
  readonly reason?: string;
  readonly supersede?: true;
  readonly evenIfRefunded?: true;
}

const PAY_HELP = `
Without --at, the moment is now, and a commission that is paid already ends as conflict. With --at, a commission that is
paid at another moment is moved to this one. A commission whose sale was refunded in full ends as conflict, unless
--even-if-refunded is given.

Examples:
  $ affiliate-mirror commissions pay 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11 --wait
  $ affiliate-mirror commissions pay 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11 \\
      --at 2026-10-01T12:00:00Z --dry-run`;

export const command: CommandFile = {
  register,
  documents: {
    'commissions-dry-run': dryRunDocument('minor'),
    'commissions-requests': requestsDocument('minor'),
  },
};

function register(group: Command, cli: Cli): void {
  addCommand(group, cli, 'pay', 'mark commissions paid')
    .option(
      '--at <moment>',
      'when they were paid, such as 2026-10-01T12:00:00Z (default: now, by the database)',
      parseMoment,
    )
    .option('--even-if-refunded', 'pay also those whose sale was refunded in full')
    .addHelpText('after', PAY_HELP);
  addCommand(group, cli, 'unpay', 'mark commissions unpaid: takes a payment back');
  addCommand(group, cli, 'due', 'set the moment from which commissions are payable').requiredOption(
    '--at <moment>',
    'from when they are payable, such as 2026-10-01T12:00:00Z',
    parseMoment,
  );
}

/** Adds the flags of every command that asks for payments. */
export function addQueueFlags(command: Command): Command {
  return addOutputFlags(
    command
      .addOption(
        new Option('--dry-run', 'read the API and print what would happen; change nothing').conflicts('wait'),
      )
      .option('--wait', 'apply them here and now, and end when all have ended'),
  );
}

function addCommand(group: Command, cli: Cli, action: Action, description: string): Command {
  return addQueueFlags(
    group
      .command(action)
      .description(description)
      .argument('<ids...>', 'identifiers of the commissions', collectIds)
      .option('--reason <text>', 'why; kept in the payment ledger')
      .option('--supersede', 'drop older requests for them that still wait'),
  ).action((ids: readonly string[], flags: RequestFlags) =>
    cli.run(async (lifetime) => {
      const session = await openForRequests(cli, lifetime, flags);
      // By the database's clock, since the payment is dated by it.
      const now = spellToTheSecond((await readClock(session.program.db)).nowMs);
      const asked = ids.map((id) => ({
        line: null,
        request: makeRequest(action, id, now, flags),
        hasOwnKey: false,
      }));
      return queueUpdates(session, asked, flags, action);
    }),
  );
}

function makeRequest(action: Action, id: string, now: string, flags: RequestFlags): UpdateRequest {
  const { at, reason, supersede, evenIfRefunded } = flags;
  return plainRequest({
    commission_id: id,
    action,
    paid_at: action === 'pay' ? (at ?? now) : null,
    due_at: action === 'due' ? (at ?? null) : null,
    // Otherwise a second "pay" without --at would move the first one's moment.
    expected_unpaid: action === 'pay' && at === undefined,
    reason: reason ?? null,
    supersede: supersede === true,
    even_if_refunded: evenIfRefunded === true,
  });
}

/** Returns the identifiers so far and this one, in lower case. Throws: InvalidArgumentError. */
function collectIds(text: string, before: readonly string[] | undefined): readonly string[] {
  const id = text.trim().toLowerCase();
  if (!identifier.safeParse(id).success) throw new InvalidArgumentError('It must be a UUID.');
  return before === undefined || before.includes(id) ? (before ?? [id]) : [...before, id];
}
