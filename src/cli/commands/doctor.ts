// The command `doctor`: checks everything that a sync needs, one after the other, and says how to fix it.

import type { Command } from 'commander';
import type { TakePermit } from '../../api/permit.ts';
import { ConfigError } from '../../base/errors.ts';
import { type Config, readConfig, readProgramConfig } from '../../config/config.ts';
import { counted } from '../../contract/format.ts';
import { setDisplayZone } from '../../contract/time-zone.ts';
import { readQueueId } from '../../worker/queue/worker-state.ts';
import { readChosen } from '../choose-programs.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { type Configs, describeUnknownVariables, readBaseSchema, zoneOf } from '../configuration.ts';
import { checkProgram, SETTINGS } from '../doctor/check-program.ts';
import {
  describeDatabase,
  examineListed,
  type ProgramReport,
  type Say,
  SCHEDULES,
} from '../doctor/check-programs.ts';
import {
  type CheckedQueue,
  checkConnections,
  checkMachineClock,
  checkQueue,
  checkRights,
  checkTables,
  checkUpcoming,
  type DoctorDocument,
  type DoctorProgramsDocument,
  describeRefusal,
  doctorDocument,
  doctorProgramsDocument,
  makeReport,
  type Report,
} from '../doctor/checks.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { openPrograms } from '../many-programs.ts';
import { print, printJson } from '../output/print.ts';
import { makeTerminalLogger, openProgram, type Program } from '../program.ts';

/** As a worker reads it. */
const USE = { servesPage: true };

const HELP = `
Sends four requests to the API, one more if it lacks campaigns, commissions or payouts, and changes nothing in it: they
check the secret and the account, and whether the API lists these three. If the secret is accepted, a worker that paused because of a refused secret or another account tries again.

Exit code 2: a variable is missing, malformed, misspelt or dangerous. Exit code 1: another check failed.`;

export const command: CommandFile = {
  register,
  connections: { pool: 2, queue: 2 },
  programs: 'many',
  documents: { doctor: doctorDocument, 'doctor-programs': doctorProgramsDocument },
};

function register(root: Command, cli: Cli): void {
  root
    .command('doctor')
    .description('check the configuration, the database and the API, and say how to fix each')
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const say = json === true ? () => {} : print;
        const report = makeReport(lifetime.signal, say);
        const programs = await examine(cli, lifetime, report, say);
        return conclude(report, cli.choice.readFile === null ? null : programs, json === true);
      }),
    );
}

/** Returns the reports of listed programs; none if the environment describes the program. */
async function examine(cli: Cli, lifetime: Lifetime, report: Report, say: Say): Promise<ProgramReport[]> {
  const configs = await checkConfiguration(cli, report);
  if (configs === null) {
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
    report.leaveOut(subjects, 'the configuration is wrong');
    return [];
  }
  await checkCertificates(cli, report);
  const [config] = configs;
  const {
    program: { name, schedules },
    process,
  } = config;
  if (name !== null) {
    const log = makeTerminalLogger(config);
    const open = () => openPrograms(cli, lifetime, { configs, log, endsAtOnce: true });
    return examineListed({ open, baseSchema: readBaseSchema(cli), lifetime, report, say });
  }
  await report.check(SCHEDULES, () => checkUpcoming({ schedules, process }));
  const program = await checkDatabase(cli, lifetime, config, report);
  const takePermit = await checkMirror(program, report);
  await checkProgram(() => readProgramConfig(cli.environment).program.address, program, takePermit, report);
  return [];
}

async function checkConfiguration(cli: Cli, { check }: Report): Promise<Configs<Config> | null> {
  const config = await check(CONFIGURATION, async () => {
    const [first, ...others] = readChosen(cli.choice, cli.environment, USE) ?? [];
    const found: Configs<Config> =
      first === undefined
        ? [readWorkerConfig(cli.environment)]
        : [first.config, ...others.map(({ config }) => config)];
    setDisplayZone(zoneOf(found));
    const listed =
      first === undefined ? '' : ` and PROGRAMS_FILE has ${counted(found.length, 'program')} to check`;
    return { found, says: `every variable that is set is well-formed${listed}` };
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
    return { found, says: await describeDatabase(found) };
  });
}

function queueOf({ db, mirrorSchema }: Program): CheckedQueue {
  return { mirrorSchema, readId: () => readQueueId(db) };
}

/** Checks the contents of the database. Returns the permits of its request budget; null if it has no usable tables. */
async function checkMirror(program: Program | null, { check, leaveOut }: Report): Promise<TakePermit | null> {
  if (program === null) {
    leaveOut(['connections', 'clock', 'rights', 'tables', 'queue'], 'the database does not answer');
    return null;
  }
  await check('connections', () => checkConnections(program));
  await check('clock', () => checkMachineClock(program));
  const rights = await check('rights', () => checkRights(program, queueOf(program)));
  if (rights === null) leaveOut(['tables'], 'rights are lacking');
  const tables = rights && (await check('tables', () => checkTables(program)));
  if (tables === null) {
    leaveOut(['queue'], 'the tables cannot be used');
    return null;
  }
  await check('queue', async () => {
    const { found, says } = await checkQueue(program, queueOf(program));
    return { found, says: `${says}${await describeRefusal(program)}` };
  });
  return tables;
}

/** Returns a worker's configuration. Throws: ConfigError, which also names the missing settings of the API. */
function readWorkerConfig(environment: Cli['environment']): Config {
  try {
    return readConfig(environment, USE);
  } catch {
    // Nothing further is checked then.
    return readProgramConfig(environment, USE);
  }
}

/** `programs`: null if the environment describes the program. */
function conclude(report: Report, programs: readonly ProgramReport[] | null, isJson: boolean): ExitCode {
  const own = [...report.checks];
  const checks = [...own, ...(programs ?? []).flatMap((program) => program.checks)];
  const made = checks.filter(({ state }) => state !== 'not_checked').length;
  const failed = checks.filter(isFailed).length;
  if (isJson) {
    const document = { is_well: failed === 0, checks: own, made, failed } satisfies DoctorDocument;
    if (programs === null) printJson(document);
    else {
      const listed = programs.map(({ program, checks: of }) => ({
        program,
        is_well: !of.some(isFailed),
        checks: [...of],
      }));
      printJson({ ...document, programs: listed } satisfies DoctorProgramsDocument);
    }
  } else {
    const isWell = '. The setup is well; for the mirror, run affiliate-mirror status.';
    print(`\n${counted(made, 'check')}, ${failed} failed${failed === 0 ? isWell : ''}`);
  }
  if (failed === 0) return 0;
  return checks.some(isOfVariables) ? 2 : 1;
}

function isFailed({ state }: Report['checks'][number]): boolean {
  return state === 'failed';
}

/** The checks of variables: if one fails, trying again does not help. */
const CONFIGURATION = 'configuration';
const UNKNOWN = 'unknown variables';
const CERTIFICATES = 'certificates';

function isOfVariables({ subject, state }: Report['checks'][number]): boolean {
  return state === 'failed' && [CONFIGURATION, UNKNOWN, CERTIFICATES, SCHEDULES, SETTINGS].includes(subject);
}
