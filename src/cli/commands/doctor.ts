// The command `doctor`: looks at everything that a sync needs, one thing after the other, and says how to fix it.

import type { Command } from 'commander';
import { makeChannels } from '../../alerts/channels.ts';
import type { TakePermit } from '../../api/permit.ts';
import { type Config, readConfig, readProgramConfig } from '../../config/config.ts';
import { OPTIONAL_LISTS } from '../../config/optional-lists.ts';
import { ConfigError } from '../../errors.ts';
import { calmLevel, type Logger, makeLogger } from '../../log.ts';
import { askForProbe } from '../../queue/program-state.ts';
import { readOptionalLists } from '../../reports/read-optional-lists.ts';
import { canDrawStatusLine } from '../../terminal.ts';
import type { Cli } from '../cli.ts';
import {
  lookAtClock,
  lookAtConnections,
  lookAtExports,
  lookAtList,
  lookAtProgram,
  lookAtQueue,
  lookAtRights,
  lookAtTables,
} from '../doctor/looks.ts';
import { makeReport, type Report } from '../doctor/report.ts';
import type { DoctorDocument } from '../documents/doctor.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { type OpenDatabase, openDatabase } from '../open-database.ts';
import { print, printJson } from '../output/print.ts';
import { describeList } from '../status/optional-list-lines.ts';
import { makeFindLists } from '../sync/find-lists.ts';
import { describeUnknownVariables } from '../unknown-variables.ts';

const HELP = `
Sends three requests to the program, two more for each of campaigns and commissions that it does not list, and changes
nothing in it: whether it accepts the secret and has records that the mirror has, and whether it lists its campaigns and
its commissions. If it accepts the secret, a worker that paused because of a refused secret or another account tries again.

Exit code 2: a variable is missing, malformed, misspelt or dangerous. Exit code 1: another check failed.`;

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

interface Session {
  readonly cli: Cli;
  readonly config: Config;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  readonly report: Report;
}

async function examine(cli: Cli, lifetime: Lifetime, report: Report): Promise<void> {
  const config = await checkConfiguration(cli, report);
  if (config === null) {
    const subjects = ['database', 'connections', 'clock', 'rights', 'tables', 'queue', 'program'];
    return report.leaveOut(subjects, 'the configuration is wrong');
  }
  await checkNetwork(cli, config, report);
  await checkAlerts(config, report);
  // On a terminal the checks say it all.
  const log = makeLogger(canDrawStatusLine() ? calmLevel(config.logLevel) : config.logLevel);
  const session: Session = { cli, config, log, lifetime, report };
  const database = await checkDatabase(session);
  const tables = await checkMirror(session, database);
  await checkProgram(session, database, tables);
}

async function checkConfiguration(cli: Cli, { check }: Report): Promise<Config | null> {
  const config = await check(CONFIGURATION, async () => {
    const found = readWorkerConfig(cli.environment);
    return { found, says: 'every variable that is set is well-formed' };
  });
  const unknown = describeUnknownVariables(cli.environment);
  if (unknown.length > 0) await check(UNKNOWN, () => Promise.reject(new ConfigError(unknown)));
  return config;
}

async function checkNetwork(cli: Cli, { api: { proxy } }: Config, { check }: Report): Promise<void> {
  if (cli.environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    await check(CERTIFICATES, () => Promise.reject(new ConfigError([UNCHECKED])));
  }
  if (proxy === null) return;
  const { protocol, host } = new URL(proxy.url);
  const says = `requests to https:// addresses go through ${protocol}//${host}`;
  await check('proxy', async () => ({ found: true, says }));
}

const UNCHECKED =
  'NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, and the API secret goes to any machine that answers in the place of the API. Unset it; name the file of a private authority in NODE_EXTRA_CA_CERTS';

async function checkAlerts({ alerts }: Config, { check }: Report): Promise<void> {
  const channels = makeChannels(alerts).map(({ kind, name }) => `${kind} to ${name}`);
  if (channels.length === 0) return;
  const says = `${channels.join(', ')}: affiliate-mirror alerts test sends one`;
  await check('alerts', async () => ({ found: true, says }));
}

function checkDatabase({ config, log, lifetime, report }: Session): Promise<OpenDatabase | null> {
  return report.check('database', async () => {
    const found = await openDatabase({ log, lifetime }, config, 'doctor', { endsAtOnce: true });
    const through = found.session.isPooled ? ', through a pooler in session mode' : '';
    return { found, says: `${found.name} answers${found.isEmbedded ? ' (embedded)' : ''}${through}` };
  });
}

/** Checks what is in the database. Returns the permits of its request budget; null where it has no usable tables. */
async function checkMirror(
  { config, log, lifetime, report: { check, leaveOut } }: Session,
  database: OpenDatabase | null,
): Promise<TakePermit | null> {
  const { scheduledExports } = config;
  const onTables = ['queue', ...(scheduledExports === null ? [] : [EXPORTS])];
  if (database === null) {
    leaveOut(['connections', 'clock', 'rights', 'tables', ...onTables], 'the database does not answer');
    return null;
  }
  await check('connections', () => lookAtConnections(config, database));
  await check('clock', () => lookAtClock(database));
  const rights = await check('rights', () => lookAtRights(config, database));
  if (rights === null) leaveOut(['tables'], 'rights are lacking');
  const tables = rights && (await check('tables', () => lookAtTables({ log, lifetime }, config, database)));
  if (tables === null) {
    leaveOut(onTables, 'the tables cannot be used');
    return null;
  }
  await check('queue', () => lookAtQueue(log, config, database));
  if (scheduledExports !== null) {
    await check(EXPORTS, () => lookAtExports(config, scheduledExports, database));
  }
  return tables;
}

async function checkProgram(
  { cli, config, log, lifetime, report: { check, leaveOut } }: Session,
  database: OpenDatabase | null,
  tables: TakePermit | null,
): Promise<void> {
  const program = await check(SETTINGS, async () => {
    const found = readProgramConfig(cli.environment).program;
    return { found, says: found.url };
  });
  if (program === null) return leaveOut(['program'], 'its settings are missing');
  if (database === null) {
    return leaveOut(['program'], 'the database, which keeps its request budget, does not answer');
  }
  const options = { ...program, timeoutMs: config.api.timeoutMs, takePermit: tables ?? takeOnlyPermit };
  const accepted = await check('program', () =>
    lookAtProgram({ log, lifetime }, options, tables && database.db),
  );
  if (accepted === null || tables === null) return;

  const { db } = database;
  await askForProbe(db);
  const findLists = makeFindLists({ db, log, lifetime }, { config, program });
  const { problems } = await findLists(OPTIONAL_LISTS);
  const { rows } = await readOptionalLists({ db, mirrorSchema: config.mirrorSchema });
  for (const list of rows) {
    const { resource } = list;
    const problem = problems.get(resource);
    if (list.setting === 'on') {
      await check(resource, () => lookAtList({ log, lifetime }, options, { list: resource, config }));
    } else if (problem !== undefined && list.is_used) {
      leaveOut([resource], `the program does not say whether it lists them: ${problem.message}`);
    } else {
      await check(resource, async () => {
        // A sync would leave them out, and end with 3.
        if (problem !== undefined) throw problem;
        return { found: true, says: describeList(list) };
      });
    }
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
const CERTIFICATES = 'certificates';
const SETTINGS = 'program settings';
const EXPORTS = 'exports';

function isOfVariables({ subject, state }: Report['checks'][number]): boolean {
  return state === 'failed' && [CONFIGURATION, UNKNOWN, CERTIFICATES, SETTINGS, EXPORTS].includes(subject);
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
