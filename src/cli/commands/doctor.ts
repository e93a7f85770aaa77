// The command `doctor`: looks at everything that a sync needs, one thing after the other, and says how to fix it.

import type { Command } from 'commander';
import { makeApiClient } from '../../api/client.ts';
import type { TakePermit } from '../../api/permit.ts';
import { makeTakePermit } from '../../budget/shared-budget.ts';
import { type Config, readConfig, readProgramConfig } from '../../config/config.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { checkClock } from '../../db/clock.ts';
import { AppError, ConfigError, describeError } from '../../errors.ts';
import { type Logger, makeLogger } from '../../log.ts';
import { checkQueueSchema, openQueue } from '../../queue/backend.ts';
import { askForProbe, readPause, readQueueId } from '../../queue/program-pause.ts';
import type { Cli } from '../cli.ts';
import type { ExitCode } from '../exit-code.ts';
import { formatCount } from '../format.ts';
import type { Lifetime } from '../lifetime.ts';
import { type OpenDatabase, openDatabase } from '../open-database.ts';
import { print } from '../print.ts';

export function registerDoctor(root: Command, cli: Cli): void {
  root
    .command('doctor')
    .description('check the configuration, the database and the program, and say how to fix each')
    .addHelpText(
      'after',
      '\nSends one request to the program, and changes nothing. Where it is accepted, a worker that stopped at a refused\nsecret tries its own again.',
    )
    .action(() => cli.run((lifetime) => examine(cli, lifetime)));
}

async function examine(cli: Cli, lifetime: Lifetime): Promise<ExitCode> {
  let failed = 0;
  // Returns null where the check failed: what builds on it is then not checked.
  const check = async <T>(
    subject: string,
    look: () => Promise<{ found: T; says: string }>,
  ): Promise<T | null> => {
    lifetime.signal.throwIfAborted();
    try {
      const { found, says } = await look();
      print(`✓ ${subject}: ${says}`);
      return found;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failed += 1;
      const problems = error instanceof ConfigError ? error.problems : [describeError(error)];
      for (const problem of problems) print(`✗ ${subject}: ${problem}`);
      return null;
    }
  };

  const config = await check('configuration', async () => {
    const found = readConfig(cli.environment);
    return { found, says: 'every variable that is set is well-formed' };
  });
  if (config === null) {
    print('– database, clock, tables, queue, program: not checked while the configuration is wrong');
    return 1;
  }
  const log = makeLogger(config.logLevel);
  const database = await check('database', async () => {
    const found = await openDatabase({ log, lifetime }, config, 'doctor');
    return { found, says: `${found.name} answers${found.isEmbedded ? ' (embedded)' : ''}` };
  });
  let tables: TakePermit | null = null;
  if (database === null) print('– clock, tables, queue: not checked while the database does not answer');
  else {
    await check('clock', () => lookAtClock(database));
    tables = await check('tables', () => lookAtTables(log, config, database));
    if (tables === null) print('– queue: not checked while the tables are not up to date');
    else await check('queue', () => lookAtQueue(log, config, database));
  }
  const takePermit = database === null ? null : (tables ?? takeOnlyPermit);

  const program = await check('program settings', async () => {
    const found = readProgramConfig(cli.environment).program;
    return { found, says: found.url };
  });
  if (program !== null && takePermit !== null) {
    const options = { ...program, timeoutMs: config.api.timeoutMs, takePermit };
    const accepted = await check('program', () => lookAtProgram({ log, lifetime }, options));
    if (accepted !== null && tables !== null && database !== null) await askForProbe(database.db);
  } else {
    const missing =
      program === null
        ? 'its settings are missing'
        : 'the database, which keeps its request budget, does not answer';
    print(`– program: not asked while ${missing}`);
  }
  print();
  print(failed === 0 ? 'All is well.' : `${failed} of these checks failed.`);
  return failed === 0 ? 0 : 1;
}

async function lookAtClock({ db }: OpenDatabase): Promise<{ found: true; says: string }> {
  let says = "it agrees with the database's";
  await checkClock(db, (difference) => {
    says = `${difference}: correct it before it is more`;
  });
  return { found: true, says };
}

async function lookAtTables(
  log: Logger,
  config: Config,
  { pool, db }: OpenDatabase,
): Promise<{ found: TakePermit; says: string }> {
  await checkSchema(pool, { schema: config.mirrorSchema });
  const { rateLimit, timeoutMs } = config.api;
  return {
    found: makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: timeoutMs }),
    says: `the schema ${config.mirrorSchema} is up to date`,
  };
}

async function lookAtQueue(
  log: Logger,
  { redisUrl, mirrorSchema }: Config,
  { pool, db, url }: OpenDatabase,
): Promise<{ found: true; says: string }> {
  const settings = { redisUrl, mirrorSchema, databaseUrl: url };
  await checkQueueSchema(pool, settings);
  const backend = await openQueue({ log }, settings, await readQueueId(db));
  await backend.close();
  const where = redisUrl === null ? 'Postgres' : `Redis at ${new URL(redisUrl).host}`;
  const { isRefused } = await readPause(db);
  const paused = isRefused ? ', and is paused: the program refused the secret of a worker' : '';
  return { found: true, says: `${where} keeps it${paused}` };
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

async function lookAtProgram(
  { log, lifetime }: { log: Logger; lifetime: Lifetime },
  {
    url,
    secret,
    timeoutMs,
    takePermit,
  }: { url: string; secret: string; timeoutMs: number; takePermit: TakePermit },
): Promise<{ found: true; says: string }> {
  const attempts = { most: 1, mostThrottled: 1 };
  const api = makeApiClient({ takePermit, log }, { url, secret, timeoutMs, attempts });
  try {
    const page = await api.list('affiliates', { page: 1, limit: 1 }, { signal: lifetime.signal });
    return {
      found: true,
      says: `${url} accepts the secret, and has ${formatCount(page.pagination.total_count)} affiliates`,
    };
  } finally {
    await api.close();
  }
}
