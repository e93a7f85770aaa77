// The command group `alerts`: whether messages arrive, and which alerts there are and were.

import type { Command } from 'commander';
import { makeChannels } from '../../alerts/channels.ts';
import { describeTest } from '../../alerts/message.ts';
import { ALERT_TIMINGS } from '../../alerts/timings.ts';
import { formatTimestamp } from '../../contract/format.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { describeError } from '../../describe-error.ts';
import { AlertNotSent, ConfigError } from '../../errors.ts';
import { makeLogger } from '../../log.ts';
import { type AlertStatus, type NoticeStatus, readAlerts } from '../../reports/read-alerts.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { AlertsDocument } from '../documents/alerts.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { print, printError, printJson } from '../output/print.ts';
import { renderTable } from '../output/render-table.ts';

const HELP = `
A running worker sends one message when something is wrong, and one when it is well again: to ALERT_WEBHOOK_URL, which
takes what Slack takes, and by e-mail to ALERT_EMAIL through SMTP_URL. What it notices is kept as a row in any case.

Examples:
  $ affiliate-mirror alerts test
  $ affiliate-mirror alerts list`;

/** As many of those that are resolved as fit a screen. */
const RESOLVED_SHOWN = 20;

export function registerAlerts(root: Command, cli: Cli): void {
  const group = root
    .command('alerts')
    .description('try whether alerts arrive, and see which there are and were')
    .addHelpText('after', HELP);
  group
    .command('test')
    .description('send a test message through every channel that is set up')
    .addHelpText('after', '\nExit code 1: one did not arrive. Exit code 2: no channel is set up.')
    .action(() => cli.run((lifetime) => test(cli, lifetime)));
  group
    .command('list')
    .description('show the open alerts and the last ones, and what became of their messages')
    .option('--json', 'print them as one JSON document')
    .action(({ json }: { json?: true }) => cli.run((lifetime) => list(cli, lifetime, json === true)));
}

// Without the database, so that it can be tried before there is one.
async function test(cli: Cli, { signal }: Lifetime): Promise<ExitCode> {
  const config = readCliConfig(cli);
  const channels = makeChannels(config.alerts);
  if (channels.length === 0) {
    throw new ConfigError(['no channel is set up: set ALERT_WEBHOOK_URL, or ALERT_EMAIL and SMTP_URL']);
  }
  const message = describeTest({ schema: config.mirrorSchema, database: null });
  let exitCode: ExitCode = 0;
  for (const channel of channels) {
    try {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(ALERT_TIMINGS.sendTimeoutMs)]);
      const problem = await channel.send(message, inTime);
      if (problem === null) print(`${channel.kind}: ${channel.name} took the test message`);
      else {
        printError(`${channel.kind}: ${problem}`);
        exitCode = 1;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AlertNotSent)) throw error;
      printError(`${channel.kind}: ${describeError(error)}`);
      exitCode = 1;
    }
  }
  return exitCode;
}

async function list(cli: Cli, lifetime: Lifetime, isJson: boolean): Promise<ExitCode> {
  const config = readCliConfig(cli);
  const log = makeLogger(config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, 'alerts', { endsAtOnce: true });
  await checkSchema(pool, { schema: config.mirrorSchema });
  const { rows: alerts } = await readAlerts({ db, mirrorSchema: config.mirrorSchema }, RESOLVED_SHOWN);
  if (isJson) printJson({ alerts } satisfies AlertsDocument);
  else if (alerts.length === 0) print('no alerts so far');
  else print(render(alerts));
  return 0;
}

function render(alerts: readonly AlertStatus[]): string {
  const table = renderTable(
    ['alert', 'what', 'since', 'well again', 'messages'],
    alerts.map(({ id, what, error_code, since, resolved_at, notices }) => [
      String(id),
      error_code === null ? what : `${what} (${error_code})`,
      formatTimestamp(since),
      resolved_at === null ? 'no' : formatTimestamp(resolved_at),
      notices.length === 0 ? 'none' : notices.map(describeNotice).join(', '),
    ]),
  );
  const open = alerts.filter(({ resolved_at }) => resolved_at === null);
  const fixes = [...new Set(open.map(({ fix }) => fix))];
  return [table, ...fixes.map((fix) => `run: ${fix}`)].join('\n');
}

function describeNotice({ kind, channel, state, last_error_code }: NoticeStatus): string {
  const why = last_error_code === null ? '' : ` (${last_error_code})`;
  return `${kind} by ${channel}: ${state.replace('_', ' ')}${why}`;
}
