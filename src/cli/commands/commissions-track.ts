// The command `commissions track`: registers commissions to be mirrored where the program does not list them.

import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readCommissionId } from '../../commissions/files/read-cells.ts';
import { readTableFile } from '../../commissions/files/table-file.ts';
import { POLL_SCHEDULE } from '../../commissions/tracking/poll-schedule.ts';
import { trackCommissions } from '../../commissions/tracking/track-commissions.ts';
import { identifier } from '../../contract/fields.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { ConfigError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { describeProblem } from '../commissions/file-flags.ts';
import { openPaymentLedger, readInput } from '../commissions/session.ts';
import type { TrackedDocument } from '../documents/commissions.ts';
import { nameUser } from '../name-user.ts';
import { print, printJson } from '../output/print.ts';

const HELP = `
A file is CSV, .xlsx or NDJSON with the column commission_id; other columns are not read.
Commissions that were changed by a request are tracked by themselves.

Where the program lists its commissions, a sync reads all of them ("affiliate-mirror status" says which it is). Elsewhere
a running worker ("affiliate-mirror work") reads each known one within a minute, and then again and again:
${POLL_SCHEDULE.map((line) => `  - ${line}`).join('\n')}`;

export function registerTrack(group: Command, cli: Cli): void {
  group
    .command('track')
    .description('have commissions mirrored that the mirror does not know')
    .argument('<what...>', 'identifiers of commissions, or files; - reads standard input')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action((what: readonly string[], flags: { json?: true }) =>
      cli.run(async (lifetime) => {
        const ids = new Set((await Promise.all(what.map((word) => readIds(word, lifetime.signal)))).flat());
        const { db } = await openPaymentLedger(cli, lifetime);
        const tracking = await trackCommissions(db, [...ids], nameUser());
        report({ commissions: ids.size, ...tracking }, flags);
        return 0;
      }),
    );
}

function report(tracked: TrackedDocument, flags: { json?: true }): void {
  if (flags.json === true) {
    printJson(tracked);
    return;
  }
  const { commissions, added, resumed } = tracked;
  const were = commissions === 1 ? 'was' : 'were';
  print(`${formatCount(added)} of ${counted(commissions, 'commission')} ${were} not tracked before`);
  if (resumed > 0)
    print(`${formatCount(resumed)} had been gone from the program, and will be asked for again`);
}

async function readIds(word: string, signal: AbortSignal): Promise<string[]> {
  if (identifier.safeParse(word).success) return [word.toLowerCase()];
  if (word !== '-' && !existsSync(word)) {
    throw new ConfigError([`${word} is neither the identifier of a commission (a UUID) nor a file`]);
  }
  const columns = {
    known: ['commission_id'],
    required: ['commission_id'],
    renamed: null,
    guards: [],
    filled: new Map(),
    only: [],
  };
  const file = await readTableFile(await readInput(word, signal), columns);
  const problems = file.problems.map(describeProblem);
  const ids = file.lines.flatMap(({ line, cells }) => {
    const ofLine: string[] = [];
    const id = readCommissionId(cells.get('commission_id'), ofLine);
    problems.push(...ofLine.map((problem) => describeProblem({ line, problem })));
    return id === null ? [] : [id];
  });
  if (problems.length > 0) throw new ConfigError([`nothing was tracked from ${word}`, ...problems]);
  return ids;
}
