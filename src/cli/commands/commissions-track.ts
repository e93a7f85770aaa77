// The command `commissions track`: registers commissions to be mirrored if the API does not list them.

import type { Command } from 'commander';
import { ConfigError } from '../../base/errors.ts';
import { identifier } from '../../contract/fields.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { describeProblems } from '../../payments/files/raw-table.ts';
import { readCommissionId } from '../../payments/files/read-cells.ts';
import { readTableFile } from '../../payments/files/table-file.ts';
import { POLL_SCHEDULE } from '../../payments/poll/poll-schedule.ts';
import { trackCommissions } from '../../payments/poll/track-commissions.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { nameUser } from '../name-user.ts';
import { print } from '../output/print.ts';
import { readInput } from '../payments/file-flags.ts';
import { openPaymentLedger } from '../payments/session.ts';

const HELP = `
A file is CSV or .xlsx with the column commission_id; other columns are not read.
Commissions of payment requests are tracked without this command.

If the API lists its commissions, a sync reads all of them ("affiliate-mirror status" says whether it does). Otherwise a
running worker ("affiliate-mirror work") reads each known one within a minute, and then on this schedule:
${POLL_SCHEDULE.map((line) => `  - ${line}`).join('\n')}`;

export const command: CommandFile = {
  register,
};

function register(group: Command, cli: Cli): void {
  group
    .command('track')
    .description('have commissions mirrored that the mirror does not know')
    .argument('<what...>', 'identifiers of commissions, or files; - reads standard input')
    .addHelpText('after', HELP)
    .action((what: readonly string[]) =>
      cli.run(async (lifetime) => {
        const ids = new Set((await Promise.all(what.map((word) => readIds(word, lifetime.signal)))).flat());
        const { db } = await openPaymentLedger(cli, lifetime);
        const { added, resumed } = await trackCommissions(db, [...ids], nameUser());
        const were = ids.size === 1 ? 'was' : 'were';
        print(`${formatCount(added)} of ${counted(ids.size, 'commission')} ${were} not tracked before`);
        if (resumed > 0) {
          print(`${formatCount(resumed)} had been gone from the API, and will be asked for again`);
        }
        return 0;
      }),
    );
}

async function readIds(word: string, signal: AbortSignal): Promise<string[]> {
  if (identifier.safeParse(word).success) return [word.toLowerCase()];
  const columns = {
    known: ['commission_id'],
    required: ['commission_id'],
    renamed: null,
    guards: [],
    filled: new Map(),
    only: [],
    isOurs: () => false,
  };
  const file = await readTableFile(await readInput(word, signal), columns);
  const problems = [...file.problems];
  const ids = file.lines.flatMap(({ line, cells }) => {
    const ofLine: string[] = [];
    const id = readCommissionId(cells.get('commission_id'), ofLine);
    problems.push(...ofLine.map((problem) => ({ line, problem })));
    return id === null ? [] : [id];
  });
  if (problems.length > 0) {
    throw new ConfigError([`nothing was tracked from ${word}`, ...describeProblems(problems)]);
  }
  return ids;
}
