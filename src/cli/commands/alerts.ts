// The command group `alerts`: tries the channels.

import type { Command } from 'commander';
import { describeError } from '../../base/describe-error.ts';
import { AlertNotSent, ConfigError } from '../../base/errors.ts';
import { makeChannels } from '../../observe/alerts/channels.ts';
import { describeTest } from '../../observe/alerts/message.ts';
import { ALERT_TIMINGS } from '../../observe/alerts/timings.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printError } from '../output/print.ts';

const HELP = `
A running worker sends one message when something is wrong, and one when it is well again: to ALERT_WEBHOOK_URL, which
takes what Slack takes, and by e-mail to ALERT_EMAIL through SMTP_URL. Every alert is kept as a row as well.

Example:
  $ affiliate-mirror alerts test`;

export const command: CommandFile = {
  register,
};

function register(root: Command, cli: Cli): void {
  const group = root.command('alerts').description('try whether alerts arrive').addHelpText('after', HELP);
  group
    .command('test')
    .description('send a test message through every channel that is set up')
    .addHelpText('after', '\nExit code 1: one did not arrive. Exit code 2: no channel is set up.')
    .action(() => cli.run((lifetime) => test(cli, lifetime)));
}

// Opens no database, so that it can be tried before there is one.
async function test(cli: Cli, { signal }: Lifetime): Promise<ExitCode> {
  const config = readCliConfig(cli);
  const channels = makeChannels(config.process.alerts);
  if (channels.length === 0) {
    throw new ConfigError(['no channel is set up: set ALERT_WEBHOOK_URL, or ALERT_EMAIL and SMTP_URL']);
  }
  const message = describeTest({ schema: config.program.mirrorSchema, database: null });
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
