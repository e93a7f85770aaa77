// The command `doctor`: looks at everything that a sync needs, one thing after the other, and says how to fix it.

import type { Command } from 'commander';
import { makeChannels } from '../../alerts/channels.ts';
import type { TakePermit } from '../../api/permit.ts';
import { type Config, readConfig, readProgramConfig } from '../../config/config.ts';
import { ConfigError } from '../../errors.ts';
import { calmLevel, makeLogger } from '../../log.ts';
import { makePersonalDataSource } from '../../personal-data/personal-data-source.ts';
import { askForProbe } from '../../queue/program-pause.ts';
import { canDrawStatusLine } from '../../terminal.ts';
import type { Cli } from '../cli.ts';
import { describeFoundList } from '../commission-list-line.ts';
import {
  lookAtClock,
  lookAtConnections,
  lookAtExports,
  lookAtList,
  lookAtProgram,
  lookAtQueue,
  lookAtRights,
  lookAtTables,
} from '../doctor-looks.ts';
import { makeReport, type Report } from '../doctor-report.ts';
import type { DoctorDocument } from '../documents/doctor.ts';
import type { ExitCode } from '../exit-code.ts';
import { makeFindList } from '../find-list.ts';
import type { Lifetime } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { print, printJson } from '../print.ts';
import { describeUnknownVariables } from '../unknown-variables.ts';

const HELP = `
Sends two requests to the program, four where it does not list its commissions, and changes nothing in it: whether it
accepts the secret, and whether it lists its commissions. Where the secret is accepted, a worker that stopped at a
refused one tries its own again.

Exit code 2: a variable is missing, malformed or misspelt. Exit code 1: another check failed.`;

export function registerDoctor(root: Command, cli: Cli): void {
  root
    .command('doctor')
    .description('check the configuration, the database and the program, and say how to fix each')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const report = makeReport(lifetime.signal, json === true ? () => {} : print);
        await examine(cli, lifetime, report);
        return conclude(report, json === true);
      }),
    );
}

async function examine(cli: Cli, lifetime: Lifetime, { check, leaveOut }: Report): Promise<void> {
  const config = await check(CONFIGURATION, async () => {
    const found = readWorkerConfig(cli.environment);
    return { found, says: 'every variable that is set is well-formed' };
  });
  const unknown = describeUnknownVariables(cli.environment);
  if (unknown.length > 0) await check(UNKNOWN, () => Promise.reject(new ConfigError(unknown)));
  if (config === null) {
    const subjects = ['database', 'connections', 'clock', 'rights', 'tables', 'queue', 'program'];
    return leaveOut(subjects, 'the configuration is wrong');
  }
  const channels = makeChannels(config.alerts).map(({ kind, name }) => `${kind} to ${name}`);
  if (channels.length > 0) {
    const says = `${channels.join(', ')}: affiliate-mirror alerts test sends one`;
    await check('alerts', async () => ({ found: true, says }));
  }
  // On a terminal the checks say it all.
  const log = makeLogger(canDrawStatusLine() ? calmLevel(config.logLevel) : config.logLevel);
  const database = await check('database', async () => {
    const found = await openDatabase({ log, lifetime }, config, 'doctor');
    const through = found.session.isPooled ? ', through a pooler in session mode' : '';
    return { found, says: `${found.name} answers${found.isEmbedded ? ' (embedded)' : ''}${through}` };
  });
  const { scheduledExports } = config;
  const exports = scheduledExports === null ? [] : [EXPORTS];
  let tables: TakePermit | null = null;
  if (database === null) {
    leaveOut(
      ['connections', 'clock', 'rights', 'tables', 'queue', ...exports],
      'the database does not answer',
    );
  } else {
    await check('connections', () => lookAtConnections(config, database));
    await check('clock', () => lookAtClock(database));
    const rights = await check('rights', () => lookAtRights(config, database));
    if (rights === null) leaveOut(['tables'], 'rights are lacking');
    else tables = await check('tables', () => lookAtTables(log, config, database));
    if (tables === null) leaveOut(['queue', ...exports], 'the tables are not up to date');
    else {
      await check('queue', () => lookAtQueue(log, config, database));
      if (scheduledExports !== null)
        await check(EXPORTS, () => lookAtExports(config, scheduledExports, database));
    }
  }
  const takePermit = database === null ? null : (tables ?? takeOnlyPermit);

  const program = await check(SETTINGS, async () => {
    const found = readProgramConfig(cli.environment).program;
    return { found, says: found.url };
  });
  if (program !== null && takePermit !== null) {
    const options = { ...program, timeoutMs: config.api.timeoutMs, takePermit };
    const accepted = await check('program', () => lookAtProgram({ log, lifetime }, options));
    if (accepted !== null && tables !== null && database !== null) {
      await askForProbe(database.db);
      const { db } = database;
      const personalData = makePersonalDataSource(config.personalData);
      await personalData.current(db);
      const findList = makeFindList({ db, log, lifetime, personalData }, { config, program });
      const found = await findList({ isAsked: true });
      const { isUsed, problem } = found;
      if (config.commissionList === 'on') {
        await check('commissions', () => lookAtList({ log, lifetime }, options));
      } else if (problem === null || !isUsed) {
        await check('commissions', async () => {
          // A sync would leave them out, and end with 3.
          if (problem !== null) throw problem;
          return { found, says: describeFoundList(found, config.commissionList) };
        });
      } else {
        leaveOut(['commissions'], `the program does not say whether it lists them: ${problem.message}`);
      }
    }
  } else {
    const missing =
      program === null
        ? 'its settings are missing'
        : 'the database, which keeps its request budget, does not answer';
    leaveOut(['program'], missing);
  }
}

/** Returns a worker's own configuration. Throws: ConfigError; one that names what is missing of the program as well. */
function readWorkerConfig(environment: Cli['environment']): Config {
  const use = { servesPage: true };
  try {
    return readConfig(environment, use);
  } catch {
    // Nothing further is checked then, so this is the place to say it.
    return readProgramConfig(environment, use).config;
  }
}

function conclude(report: Report, isJson: boolean): ExitCode {
  const made = report.checks.filter(({ state }) => state !== 'not_checked').length;
  const problems = report.checks.filter(({ state }) => state === 'failed').map(({ says }) => says.length);
  const failed = problems.length;
  if (isJson) {
    printJson({ is_well: failed === 0, checks: [...report.checks], made, failed } satisfies DoctorDocument);
  } else {
    const checks = made === 1 ? '1 check' : `${made} checks`;
    const lines = problems.reduce((sum, count) => sum + count, 0);
    const several = lines === failed ? '' : ` with ${lines} problems`;
    print(`\n${checks}, ${failed} failed${failed === 0 ? '. All is well.' : several}`);
  }
  if (failed === 0) return 0;
  return report.checks.some(isOfVariables) ? 2 : 1;
}

/** What reads variables: where it fails, trying again does not help. */
const CONFIGURATION = 'configuration';
const UNKNOWN = 'unknown variables';
const SETTINGS = 'program settings';
const EXPORTS = 'exports';

function isOfVariables({ subject, state }: Report['checks'][number]): boolean {
  return state === 'failed' && [CONFIGURATION, UNKNOWN, SETTINGS, EXPORTS].includes(subject);
}

// Without tables there is no shared budget, and nobody who could be sharing it.
const takeOnlyPermit: TakePermit = async () => {
  const now = new Date().toISOString();
  return {
    grantedAt: now,
    isUsable: () => true,
    returnAnswered: async () => now,
    returnUnused: async () => {},
  };
};
