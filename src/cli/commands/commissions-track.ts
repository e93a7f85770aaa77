// The command `commissions track`: registers commissions to be mirrored, since the program cannot list them.

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { readCommissionId } from '../../commissions/batch-file.ts';
import { POLL_SCHEDULE } from '../../commissions/poll-schedule.ts';
import { readTableFile } from '../../commissions/table-file.ts';
import { trackCommissions } from '../../commissions/tracked-commissions.ts';
import { identifier } from '../../contract/fields.ts';
import { ConfigError } from '../../errors.ts';
import type { Cli } from '../cli.ts';
import { openLedger } from '../commissions-session.ts';
import { formatCount } from '../format.ts';
import { print, printJson } from '../print.ts';
import { readInput } from '../read-input.ts';
import { describeProblem } from './commissions-apply.ts';

const HELP = `
A file is CSV or NDJSON with the column commission_id; other columns are not read.
Commissions that were changed by a request are tracked by themselves.

A running worker ("affiliate-mirror work") reads each commission within a minute, and then again and again:
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
        const ids = new Set((await Promise.all(what.map(readIds))).flat());
        const { db } = await openLedger(cli, lifetime);
        const added = await trackCommissions(db, [...ids], userInfo().username);
        if (flags.json === true) printJson({ commissions: ids.size, added });
        else print(`${formatCount(added)} of ${formatCount(ids.size)} commissions are new to the mirror`);
        return 0;
      }),
    );
}

async function readIds(word: string): Promise<string[]> {
  if (identifier.safeParse(word).success) return [word.toLowerCase()];
  if (word !== '-' && !existsSync(word)) {
    throw new ConfigError([`${word} is neither the identifier of a commission (a UUID) nor a file`]);
  }
  const file = readTableFile(await readInput(word), {
    known: ['commission_id'],
    required: ['commission_id'],
    othersAllowed: true,
  });
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
