// What `doctor` looks at, each by itself. A look returns what it found and what it says, and throws what is wrong and
// how to fix it.

import type { Pool } from 'pg';
import { type ApiClient, type ApiClientOptions, makeApiClient } from '../../api/client.ts';
import type { TakePermit } from '../../api/permit.ts';
import { makeTakePermit } from '../../budget/shared-budget.ts';
import type { Config } from '../../config/config.ts';
import type { ScheduledExports } from '../../config/exports.ts';
import type { OptionalList } from '../../config/optional-lists.ts';
import { counted, formatCount } from '../../contract/format.ts';
import { checkWorkerAccess, readConnectionLimit, writeForTrial } from '../../db/check-access.ts';
import { checkParts } from '../../db/check-parts.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { checkClock } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { describeHolder, findHolders } from '../../db/watch-locks.ts';
import { AccessRefused, Busy, ConfigError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { probeAccount } from '../../mirror/account.ts';
import { readState, refuseOtherSettings } from '../../personal-data/stored-state.ts';
import { openQueue } from '../../queue/backend.ts';
import { readRefusal } from '../../queue/program-state.ts';
import { checkQueueSchema, queueSchema } from '../../queue/queue-tables.ts';
import { nameRedis } from '../../queue/redis-connection.ts';
import { readQueueId } from '../../queue/worker-state.ts';
import { sleepOrAbort } from '../../sleep.ts';
import type { Lifetime } from '../lifetime.ts';
import { connectionsOf, type OpenDatabase } from '../open-database.ts';
import { asListError } from '../sync/find-lists.ts';
import { checkScheduledExports } from '../worker/scheduled-exports.ts';

/** What was found, and what is said of it. */
interface Seen<T = true> {
  readonly found: T;
  readonly says: string;
}

/**
 * Compares the limit of connections with what a worker needs: who holds how many of them changes from second to second.
 *
 * Throws: AccessRefused where the limit is too low.
 */
export async function lookAtConnections({ redisUrl }: Config, { pool }: OpenDatabase): Promise<Seen> {
  const limit = await readConnectionLimit(pool);
  const needed = connectionsOf('work', redisUrl === null);
  if (limit.most < needed) {
    throw new AccessRefused(
      `${limit.of} is limited to ${limit.most}, and a worker holds up to ${needed}: raise that limit, or its jobs will fail for want of one`,
    );
  }
  return { found: true, says: `${limit.of} is limited to ${limit.most}, and a worker holds up to ${needed}` };
}

/**
 * Looks at whether a worker may write and sees every row, and at whether there is room to write.
 *
 * Throws: AccessRefused naming the rights of a worker that the role lacks, or a table with rows that it does not see;
 * the database's errors.
 */
export async function lookAtRights(
  { mirrorSchema, redisUrl }: Config,
  { pool, session }: OpenDatabase,
): Promise<Seen> {
  await checkWorkerAccess(pool, {
    schema: mirrorSchema,
    queueSchema: redisUrl === null ? queueSchema(mirrorSchema) : null,
  });
  await writeForTrial(pool);
  return { found: true, says: `the role ${session.role} has what a worker needs` };
}

/** Says how far this machine's clock is off. Throws: ClockWrong where that is too far. */
export async function lookAtClock({ db }: OpenDatabase): Promise<Seen> {
  let says = "it agrees with the database's";
  await checkClock(db, (difference) => {
    says = `${difference}: correct it before it is more`;
  });
  return { found: true, says };
}

/**
 * Finds the request budget.
 *
 * Throws: what `checkSchema` throws where the tables are not up to date; what `checkParts` throws where a part of them
 * is lost; Busy where another session holds a lock on one of them; PersonalDataMismatch where they keep personal data
 * in another way than the configuration says.
 */
export async function lookAtTables(
  { log, lifetime }: LookDeps,
  config: Config,
  { pool, db }: OpenDatabase,
): Promise<Seen<TakePermit>> {
  await checkSchema(pool, { schema: config.mirrorSchema });
  // Before what reads the tables, and would wait for the lock.
  await refuseLocked(pool, config.mirrorSchema, lifetime.signal);
  await checkParts(pool, config.mirrorSchema);
  refuseOtherSettings(config.personalData, await readState(db));
  const { mode } = config.personalData;
  const { rateLimit, timeoutMs } = config.api;
  return {
    found: makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: timeoutMs }),
    says: `the schema ${config.mirrorSchema} is up to date${mode === 'plain' ? '' : `, and keeps personal data as ${mode}`}`,
  };
}

/** A lock that is held for less is nobody's concern. */
const LOCKED_MS = 2000;

async function refuseLocked(pool: Pool, schema: string, signal: AbortSignal): Promise<void> {
  const first = await findHolders(pool, schema);
  if (first.length === 0) return;
  await sleepOrAbort(LOCKED_MS, signal);
  const before = new Set(first.map(({ pid }) => pid));
  const holder = (await findHolders(pool, schema)).find(({ pid }) => before.has(pid));
  if (holder !== undefined) throw new Busy(describeHolder(holder));
}

/**
 * Opens the queue, and closes it again.
 *
 * Throws: ConfigError with what a worker would warn of; what `checkQueueSchema` and `openQueue` throw.
 */
export async function lookAtQueue(
  log: Logger,
  { redisUrl, mirrorSchema }: Config,
  { pool, db, url }: OpenDatabase,
): Promise<Seen> {
  const settings = { redisUrl, mirrorSchema, databaseUrl: url };
  await checkQueueSchema(pool, settings);
  const backend = await openQueue({ log }, settings, await readQueueId(db));
  await backend.close();
  if (backend.warnings.length > 0) throw new ConfigError(backend.warnings);
  const where = redisUrl === null ? 'Postgres' : `Redis at ${nameRedis(redisUrl)}`;
  const code = await readRefusal(db);
  const waits = code === null ? '' : `; no job asks the program, since a worker met ${code}`;
  return { found: true, says: `${where} keeps it${waits}` };
}

/** Throws: ConfigError naming what cannot be exported: no worker would start with it. */
export async function lookAtExports(
  { mirrorSchema }: Config,
  exports: ScheduledExports,
  { pool }: OpenDatabase,
): Promise<Seen> {
  await checkScheduledExports(pool, mirrorSchema, exports);
  const { whole, changes, target } = exports;
  return { found: true, says: `${counted(whole.length + changes.length, 'export')} to ${target}` };
}

interface LookDeps {
  readonly log: Logger;
  readonly lifetime: Lifetime;
}

type LookOptions = ApiClientOptions & { readonly takePermit: TakePermit };

/**
 * `db` is the mirror; null if it has no tables. Throws: ProgramChanged if the API has none of the records that the
 * mirror has; what `ApiClient.list` throws.
 */
export async function lookAtProgram(
  deps: LookDeps,
  program: LookOptions,
  db: Database | null,
): Promise<Seen> {
  const total = await withClient(deps, program, (api, options) => probeAccount({ api, db }, options));
  const affiliates = counted(total, 'affiliate');
  return { found: true, says: `${program.url} accepts the secret, and has ${affiliates}` };
}

/**
 * For a list that OPTIONAL_LISTS names: otherwise the program says whether it has it.
 *
 * Throws: ListNotServed where it does not; what `ApiClient.list` throws.
 */
export async function lookAtList(
  deps: LookDeps,
  program: LookOptions,
  { list, config }: { list: OptionalList; config: Config },
): Promise<Seen> {
  const count = await withClient(deps, program, async (api, { signal }) => {
    const page = await api.list(list, { page: 1, limit: 1 }, { signal });
    return page.pagination.total_count;
  }).catch((error: unknown) => {
    throw asListError(error, list, config);
  });
  return {
    found: true,
    says: `OPTIONAL_LISTS names them, and the program lists ${formatCount(count)}`,
  };
}

/** Returns what `ask` returns, whose client makes each request once. */
async function withClient<T>(
  { log, lifetime }: LookDeps,
  { takePermit, ...program }: LookOptions,
  ask: (api: ApiClient, options: { signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const attempts = { most: 1, mostThrottled: 1 };
  const api = makeApiClient({ takePermit, log }, { ...program, attempts });
  try {
    return await ask(api, { signal: lifetime.signal });
  } finally {
    await api.close();
  }
}
