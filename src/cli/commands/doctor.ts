// The command `doctor`: checks everything that a sync needs, one after the other, and says how to fix it.

import type { Command } from 'commander';
import { makeApiClient } from '../../api/client.ts';
import type { TakePermit } from '../../api/permit.ts';
import { ConfigError } from '../../base/errors.ts';
import { type Config, readConfig, readProgramConfig } from '../../config/config.ts';
import { counted } from '../../contract/format.ts';
import { OPTIONAL_LISTS } from '../../contract/optional-lists.ts';
import { setDisplayZone } from '../../contract/time-zone.ts';
import { adviseOnMirrors } from '../../db/access/count-mirrors.ts';
import { readOptionalLists } from '../../reports/read-health.ts';
import { askForProbe } from '../../worker/queue/worker-state.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { describeUnknownVariables } from '../configuration.ts';
import { ONCE } from '../connect-program.ts';
import {
  checkAccount,
  checkConnections,
  checkMachineClock,
  checkQueue,
  checkRights,
  checkTables,
  checkUpcoming,
  type DoctorDocument,
  doctorDocument,
  makeReport,
  type Report,
} from '../doctor/checks.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { print, printJson } from '../output/print.ts';
import { makeTerminalLogger, openProgram, type Program } from '../program.ts';
import { describeList } from '../status/sections.ts';
import { makeFindLists } from '../sync/find-lists.ts';

const HELP = `
Sends four requests to the API, one more if it lacks campaigns, commissions or payouts, and changes nothing in it: they
check the secret and the account, and whether the API lists these three. If the secret is accepted, a worker that paused because of a refused secret or another account tries again.

Exit code 2: a variable is missing, malformed, misspelt or dangerous. Exit code 1: another check failed.`;

export const command: CommandFile = {
  register,
  connections: { pool: 2, queue: 2 },
  documents: { doctor: doctorDocument },
};

function register(root: Command, cli: Cli): void {
  root
    .command('doctor')
    .description('check the configuration, the database and the API, and say how to fix each')
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

async function examine(cli: Cli, lifetime: Lifetime, report: Report): Promise<void> {
  const config = await checkConfiguration(cli, report);
  if (config === null) {
    const subjects = [
      'schedules',
      'database',
      'connections',
      'clock',
      'rights',
      'tables',
      'queue',
      'program',
    ];
    return report.leaveOut(subjects, 'the configuration is wrong');
  }
  await checkCertificates(cli, report);
  const {
    program: { schedules },
    process,
  } = config;
  await report.check(SCHEDULES, () => checkUpcoming({ schedules, process }));
  const program = await checkDatabase(cli, lifetime, config, report);
  const takePermit = await checkMirror(program, report);
  await checkProgram(cli, program, takePermit, report);
}

async function checkConfiguration(cli: Cli, { check }: Report): Promise<Config | null> {
  const config = await check(CONFIGURATION, async () => {
    const found = readWorkerConfig(cli.environment);
    setDisplayZone(found.process.displayZone);
    return { found, says: 'every variable that is set is well-formed' };
  });
  const unknown = describeUnknownVariables(cli.environment);
  if (unknown.length > 0) await check(UNKNOWN, () => Promise.reject(new ConfigError(unknown)));
  return config;
}

async function checkCertificates({ environment }: Cli, { check }: Report): Promise<void> {
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return;
  await check(CERTIFICATES, () => Promise.reject(new ConfigError([UNCHECKED])));
}

const UNCHECKED =
  'NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, and the API secret goes to any machine that answers in the place of the API. Unset it; name the file of a private authority in NODE_EXTRA_CA_CERTS';

function checkDatabase(
  cli: Cli,
  lifetime: Lifetime,
  config: Config,
  { check }: Report,
): Promise<Program | null> {
  return check('database', async () => {
    const log = makeTerminalLogger(config);
    const found = await openProgram(cli, lifetime, { config, log, endsAtOnce: true });
    const { session, name, isEmbedded } = found.database;
    const through = session.isPooled ? ', through a pooler in session mode' : '';
    const advice = await adviseOnMirrors(found.pool);
    const says = `${name} answers${isEmbedded ? ' (embedded)' : ''}${through}`;
    return { found, says: advice === null ? says : `${says}; ${advice}` };
  });
}

/** Checks the contents of the database. Returns the permits of its request budget; null if it has no usable tables. */
async function checkMirror(program: Program | null, { check, leaveOut }: Report): Promise<TakePermit | null> {
  if (program === null) {
    leaveOut(['connections', 'clock', 'rights', 'tables', 'queue'], 'the database does not answer');
    return null;
  }
  await check('connections', () => checkConnections(program));
  await check('clock', () => checkMachineClock(program));
  const rights = await check('rights', () => checkRights(program));
  if (rights === null) leaveOut(['tables'], 'rights are lacking');
  const tables = rights && (await check('tables', () => checkTables(program)));
  if (tables === null) {
    leaveOut(['queue'], 'the tables cannot be used');
    return null;
  }
  await check('queue', () => checkQueue(program));
  return tables;
}

async function checkProgram(
  cli: Cli,
  program: Program | null,
  tables: TakePermit | null,
  { check, leaveOut }: Report,
): Promise<void> {
  const address = await check(SETTINGS, async () => {
    const found = readProgramConfig(cli.environment).program.address;
    return { found, says: found.url };
  });
  if (address === null) return leaveOut(['program'], 'its settings are missing');
  if (program === null) {
    return leaveOut(['program'], 'the database, which keeps its request budget, does not answer');
  }
  const { db, log, lifetime, timeoutMs } = program;
  const api = makeApiClient(
    { takePermit: tables ?? takeOnlyPermit, log },
    { ...address, timeoutMs, attempts: ONCE },
  );
  lifetime.onClose(() => api.close());
  const mirror = tables && db;
  const accepted = await check('program', () => checkAccount({ api, db: mirror }, address.url, lifetime));
  if (accepted === null || mirror === null) return;

  await askForProbe(db);
  const { problems } = await makeFindLists(program, api)(OPTIONAL_LISTS);
  const { rows } = await readOptionalLists(program);
  for (const list of rows) {
    const { resource } = list;
    const problem = problems.get(resource);
    if (problem !== undefined && list.is_used) {
      leaveOut([resource], `the API does not say whether it lists them: ${problem.message}`);
      continue;
    }
    await check(resource, async () => {
      // A sync would leave them out, and end with 3.
      if (problem !== undefined) throw problem;
      return { found: true, says: describeList(list) };
    });
  }
}

/** Returns a worker's configuration. Throws: ConfigError, which also names the missing settings of the API. */
function readWorkerConfig(environment: Cli['environment']): Config {
  const use = { servesPage: true };
  try {
    return readConfig(environment, use);
  } catch {
    // Nothing further is checked then.
    return readProgramConfig(environment, use);
  }
}

function conclude(report: Report, isJson: boolean): ExitCode {
  const made = report.checks.filter(({ state }) => state !== 'not_checked').length;
  const failed = report.checks.filter(({ state }) => state === 'failed').length;
  if (isJson) {
    printJson({ is_well: failed === 0, checks: [...report.checks], made, failed } satisfies DoctorDocument);
  } else {
    const isWell = '. The setup is well; for the mirror, run affiliate-mirror status.';
    print(`\n${counted(made, 'check')}, ${failed} failed${failed === 0 ? isWell : ''}`);
  }
  if (failed === 0) return 0;
  return report.checks.some(isOfVariables) ? 2 : 1;
}

/** The checks of variables: if one fails, trying again does not help. */
const CONFIGURATION = 'configuration';
const UNKNOWN = 'unknown variables';
const CERTIFICATES = 'certificates';
const SETTINGS = 'program settings';
const SCHEDULES = 'schedules';

function isOfVariables({ subject, state }: Report['checks'][number]): boolean {
  return state === 'failed' && [CONFIGURATION, UNKNOWN, CERTIFICATES, SCHEDULES, SETTINGS].includes(subject);
}

// Without tables there is no shared budget, and no process that shares it.
const takeOnlyPermit: TakePermit = async () => {
  const now = new Date().toISOString();
  return {
    grantedAt: now,
    isUsable: () => true,
    returnAnswered: async () => now,
    returnUnused: async () => {},
  };
};
