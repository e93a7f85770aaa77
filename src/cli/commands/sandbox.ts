// The command `sandbox`: serves one made-up affiliate program on this machine, or many.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { calmLevel, makeLogger } from '../../base/log.ts';
import { RATE_LIMIT_FORM, type RateLimit, readRateLimit } from '../../config/program/rate-limit.ts';
import { formatCount } from '../../contract/format.ts';
import { FAULT_KINDS, type FaultPlan, parseFaultPlan } from '../../sandbox/fault-plan.ts';
import type { SeedProgress } from '../../sandbox/seed.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { SPELLINGS, type Spelling, TIME_STYLES, type TimeStyle } from '../../sandbox/wire.ts';
import type { Cli, CommandFile, Connections } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, untilStopped } from '../lifetime.ts';
import { print, printError } from '../output/print.ts';
import { openProgram } from '../program.ts';
import { describeLimit, SANDBOX_SCHEMA, type Serving, serveMany } from '../sandbox/serve-many.ts';

/** The API secret of a made-up program, which listens on this machine only: no real secret. */
export const SANDBOX_SECRET = 'sandbox-secret';

export const SANDBOX_HOST = '127.0.0.1';

export const DEFAULT_SIZE = { seed: 1, affiliates: 400, referrals: 6_000 } as const;
/** Of each of several: a hundred are made in a quarter of a minute. */
const SMALL_SIZE = { affiliates: 20, referrals: 200 } as const;

export const SANDBOX_CONNECTIONS: Connections = { pool: 8, isWriting: true };

interface SandboxFlags {
  readonly port: number;
  readonly programs: number;
  readonly seed: number;
  readonly affiliates?: number;
  readonly referrals?: number;
  readonly rateLimit: NonNullable<RateLimit> | 'none';
  readonly fault: readonly string[];
  /** Events per second. */
  readonly live?: number;
  readonly spelling: Spelling;
  readonly times: TimeStyle;
  readonly optionalLists?: true;
  readonly payouts?: true;
  readonly reset?: true;
}

const DEFAULT_EVENTS_PER_SECOND = 1;
const MOST_PROGRAMS = 100;
const anyNumber = wholeNumber(0, 0x7fffffff);
/** Some ten seconds of work: a smaller program shows no progress. */
const REFERRALS_PER_LINE = 50_000;

const HELP = `
Kinds of fault; the share is that of the requests that it spoils (--fault 5xx=0.05 --fault stall=0.01):
${Object.entries(FAULT_KINDS)
  .map(([kind, meaning]) => `  ${kind.padEnd(13)}${meaning}`)
  .join('\n')}

Examples:
  $ affiliate-mirror sandbox
  $ affiliate-mirror sandbox --affiliates 2000 --referrals 100000 --reset
  $ affiliate-mirror sandbox --rate-limit 45/30 --fault 5xx=0.05 --live 5
  $ affiliate-mirror sandbox --spelling live --optional-lists --payouts --reset
  $ affiliate-mirror sandbox --programs 3 --rate-limit 45/30

Its data are in the schema ${SANDBOX_SCHEMA} of DATABASE_URL (else of the embedded Postgres) and survive a restart.
Those of several are in ${SANDBOX_SCHEMA}_NAME. Their PROGRAMS_FILE and secrets are written below DATA_DIR.`;

export const command: CommandFile = {
  register,
  connections: SANDBOX_CONNECTIONS,
  programs: null,
};

function register(root: Command, cli: Cli): void {
  root
    .command('sandbox')
    .description('serve a made-up affiliate program on this machine, with faults on demand')
    .option('--port <number>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 4010)
    .option(
      '--programs <number>',
      'how many programs; of several, each has an address, a secret, a limit and data of its own',
      wholeNumber(1, MOST_PROGRAMS),
      1,
    )
    .option('--seed <number>', 'the same seed makes the same data', anyNumber, DEFAULT_SIZE.seed)
    .option('--affiliates <number>', describeSize('affiliates'), anyNumber)
    .option('--referrals <number>', describeSize('referrals'), anyNumber)
    .addOption(
      new Option('--rate-limit <requests/seconds>', 'answer 429 beyond it, such as 45/30')
        .argParser(parseRateLimit)
        .default('none'),
    )
    .addOption(
      new Option('--fault <kind=share>', 'spoil a share of the requests (repeatable)')
        .argParser((text: string, before: readonly string[]) => [...before, text])
        .default([], 'none'),
    )
    .addOption(
      new Option('--live [events]', 'let time pass: that many events per second')
        .preset(String(DEFAULT_EVENTS_PER_SECOND))
        .argParser(parseEventsPerSecond),
    )
    .addOption(
      new Option(
        '--spelling <spelling>',
        'neutral: as the contract says; live: with the names, fields, nulls and visitors of live deployments',
      )
        .choices(SPELLINGS)
        .default('neutral'),
    )
    .addOption(
      new Option(
        '--times <style>',
        'utc: times end in Z; offset: they end in +0000, and zero seconds are left out',
      )
        .choices(TIME_STYLES)
        .default('utc'),
    )
    .option(
      '--optional-lists',
      'serve GET /v1/campaigns and GET /v1/commissions too, which the contract does not show',
    )
    .option(
      '--payouts',
      'serve payouts too: GET /v1/payouts, GET /v1/payouts/:id and PUT /v1/payouts/:id/pay',
    )
    .option('--reset', 'drop its data, and start anew')
    .addHelpText('after', HELP)
    .action((flags: SandboxFlags) => cli.run((lifetime) => serve(cli, lifetime, flags)));
}

function describeSize(records: keyof typeof SMALL_SIZE): string {
  return `how many ${records} (default: ${DEFAULT_SIZE[records]}; ${SMALL_SIZE[records]} of each of several programs)`;
}

async function serve(cli: Cli, lifetime: Lifetime, flags: SandboxFlags): Promise<ExitCode> {
  const config = readCliConfig(cli);
  const faults = parseFaultPlan(flags.fault);
  const log = makeLogger(calmLevel(config.process.logLevel));
  const { pool, database } = await openProgram(cli, lifetime, { config, log });
  const serving: Serving = {
    deps: { pool, log, onProgress: showProgress, signal: lifetime.signal },
    address: { host: SANDBOX_HOST, port: flags.port },
    program: readProgramOptions(flags, faults),
    lifetime,
    database: database.name,
  };
  if (flags.programs === 1) await serveOne(serving);
  else await serveMany(serving, flags.programs, config.process.dataDir);
  print('Ctrl-C stops it.');
  await untilStopped(lifetime.signal);
  return 0;
}

function readProgramOptions(flags: SandboxFlags, faults: FaultPlan): Serving['program'] {
  const size = flags.programs === 1 ? DEFAULT_SIZE : SMALL_SIZE;
  return {
    seed: flags.seed,
    affiliates: flags.affiliates ?? size.affiliates,
    referrals: flags.referrals ?? size.referrals,
    rateLimit: flags.rateLimit === 'none' ? null : flags.rateLimit,
    faults,
    live: flags.live === undefined ? null : { eventsPerSecond: flags.live },
    spelling: flags.spelling,
    times: flags.times,
    optionalLists: [
      ...(flags.optionalLists === true ? (['campaigns', 'commissions'] as const) : []),
      ...(flags.payouts === true ? (['payouts'] as const) : []),
    ],
    reset: flags.reset === true,
  };
}

async function serveOne({ deps, address, program, lifetime, database }: Serving): Promise<void> {
  const own = { schema: SANDBOX_SCHEMA, secret: SANDBOX_SECRET };
  const sandbox = await startSandbox(deps, { ...address, ...program, ...own });
  lifetime.onClose(() => sandbox.close());
  print(describeSandbox(sandbox.url, program.rateLimit));
  print(
    `Its data: ${sandbox.isSeeded ? 'made just now' : 'as the last sandbox left them'}, in the schema ${SANDBOX_SCHEMA} of ${database}.`,
  );
}

function describeSandbox(url: string, rateLimit: RateLimit): string {
  return `The sandbox answers at ${url}. In another terminal:

  export AFFILIATE_API_URL=${url} AFFILIATE_API_SECRET=${SANDBOX_SECRET} API_RATE_LIMIT=${describeLimit(rateLimit)}
  npx affiliate-mirror sync --migrate
  curl -u ${SANDBOX_SECRET}: '${url}/v1/affiliates?limit=1'
`;
}

function showProgress({ done, total }: SeedProgress): void {
  if (done % REFERRALS_PER_LINE !== 0) return;
  printError(`made up ${formatCount(done)} of ${formatCount(total)} referrals`);
}

// Commander takes null for an option without a value.
function parseRateLimit(text: string): SandboxFlags['rateLimit'] {
  const limit = readRateLimit(text);
  if (limit === undefined) throw new InvalidArgumentError(`It must be ${RATE_LIMIT_FORM}.`);
  return limit ?? 'none';
}

function parseEventsPerSecond(text: string): number {
  const events = Number(text);
  if (events > 0 && events <= 1000) return events;
  throw new InvalidArgumentError('It must be more than 0 and at most 1000.');
}

/** Returns a parser of whole numbers within the bounds, which throws commander's InvalidArgumentError. */
function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}
