// Many programs and the workers that serve them: a sandbox, schemas in a Postgres that may be restarted, a queue that
// may be emptied, a PROGRAMS_FILE that changes.

import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { makeLogger } from '../../src/base/log.ts';
import type { OptionalList } from '../../src/contract/optional-lists.ts';
import { makeDatabasePool } from '../../src/db/connect/pool.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import type { ProgramOptions } from '../../src/sandbox/served-program.ts';
import { findProgram, type SandboxProgram, startSandboxOfMany } from '../../src/sandbox/start-sandbox.ts';
import { migrateQueue } from '../../src/worker/queue/queue-tables.ts';
import { callSandbox, type SandboxCalls } from '../sandbox/running-sandbox.ts';
import { afterFile } from '../support/after-file.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import type { Kind } from '../worker/queue/queueing.ts';

/** The smallest limit that carries the schedules; of 45 in 30 seconds, the shape. */
export const RATE_LIMIT = { requests: 5, windowSeconds: 2 };
const TIMEOUT_MS = 3000;
/** Whether a person runs it on a quiet machine: then it holds the promises to their seconds. */
export const IS_EXACT = process.env['FLEET'] !== undefined;

export interface FleetProgram {
  readonly name: string;
  /** As the affiliate program is. */
  readonly sandbox: SandboxProgram & SandboxCalls;
  /** Its schema in the program's own database. */
  readonly origin: string;
  /** On its mirror. */
  readonly pool: Pool;
  readonly schema: string;
  readonly secretFile: string;
  readonly secret: string;
  /** The optional lists that it serves. */
  readonly lists: readonly OptionalList[];
}

export interface Fleet {
  readonly programs: readonly FleetProgram[];
  /** Where the programs themselves are. */
  readonly origin: Pool;
  readonly postgres: OwnPostgres;
  readonly redis: TestRedis | null;
  /** On no schema. */
  readonly base: Pool;
  readonly databaseUrl: string;
  readonly file: string;
  /** Has PROGRAMS_FILE list these. */
  list(programs: readonly FleetProgram[]): Promise<void>;
}

/** How a program differs from the others. */
export type Special = Partial<Pick<ProgramOptions, 'optionalLists' | 'faults' | 'referrals'>>;

/** Makes the schemas of as many programs, once for all tests of a file. */
export async function makeServer(names: readonly string[]): Promise<OwnPostgres> {
  const postgres = await startOwnPostgres();
  await postgres.query('create database fleet');
  const { shared, end } = openPool(addressOf(postgres, 'fleet'));
  await pMap(names, (name) => runMigrations(shared.of(schemaOf(name)), { schema: schemaOf(name) }), {
    concurrency: 2,
  });
  await end();
  return postgres;
}

/** Returns the programs, none of them in the file yet. */
export async function makeFleet(
  kind: Kind,
  postgres: OwnPostgres,
  names: readonly string[],
  special: Readonly<Record<string, Special>>,
): Promise<Fleet> {
  await postgres.query(`create database fleet_${kind} template fleet`);
  const databaseUrl = addressOf(postgres, `fleet_${kind}`);
  const { shared, end } = openPool(databaseUrl);
  afterFile(end);
  const redis = kind === 'redis' ? await startRedis() : null;
  const queue = { redisUrl: redis?.url ?? null, databaseUrl, mirrorSchema: 'mirror' };
  await migrateQueue(shared.base, queue);
  const { pool: origin } = await createTestDatabase();
  const options = names.map((name, index) => [name, makeOptions(name, index, special[name])] as const);
  const sandbox = await startSandboxOfMany(
    { pool: origin, log: makeLogger('fatal') },
    { host: '127.0.0.1', port: 0, programs: Object.fromEntries(options) },
  );
  afterFile(() => sandbox.close());
  const directory = await makeDirectory();
  const file = join(directory, 'programs.yaml');
  const programs = await pMap(options, async ([name, { schema, secret }]) => {
    const secretFile = join(directory, `${name}.secret`);
    await writeFile(secretFile, secret);
    const found = findProgram(sandbox.programs, name);
    return {
      name,
      sandbox: { ...found, ...callSandbox(found.url, secret) },
      origin: schema,
      pool: shared.of(schemaOf(name)),
      schema: schemaOf(name),
      secretFile,
      secret,
      lists: special[name]?.optionalLists ?? [],
    };
  });
  return {
    programs,
    origin,
    postgres,
    redis,
    base: shared.base,
    databaseUrl,
    file,
    async list(listed) {
      const entries = listed.map(({ name, sandbox: { url }, secretFile, lists: served }) => {
        const lists = served.length === 0 ? 'none' : served.join();
        return `  ${name}:\n    url: ${url}\n    secret_file: ${secretFile}\n    optional_lists: ${lists}\n`;
      });
      await writeFile(`${file}.draft`, `programs:\n${entries.join('')}`);
      await rename(`${file}.draft`, file);
    },
  };
}

/** Returns what the workers of the fleet have in common. */
export function environmentOf({ file }: Fleet): Record<string, string> {
  const { requests, windowSeconds } = RATE_LIMIT;
  return {
    PROGRAMS_FILE: file,
    API_RATE_LIMIT: `${requests}/${windowSeconds}`,
    API_TIMEOUT_MS: String(TIMEOUT_MS),
    SYNC_DELTA_CRON: `*/${DELTA_SECONDS} * * * * *`,
    SYNC_FULL_CRON: `${FULL_SECOND} * * * * *`,
    STATUS_PORT: '0',
  };
}

/** A delta is due every so many seconds. */
export const DELTA_SECONDS = 20;
/** A full sync is due at this second of each minute. */
const FULL_SECOND = 50;

function schemaOf(name: string): string {
  return `mirror_${name}`;
}

function makeOptions(name: string, seed: number, special: Special = {}): ProgramOptions {
  return {
    schema: `origin_${name}`,
    secret: `secret-${name}`,
    seed: seed + 1,
    affiliates: 8,
    referrals: seed % 7 === 0 ? 250 : 60,
    rateLimit: RATE_LIMIT,
    faults: NO_FAULTS,
    live: null,
    reset: false,
    ...special,
  };
}

function addressOf(postgres: OwnPostgres, database: string): string {
  const url = new URL(postgres.url);
  url.pathname = `/${database}`;
  return url.href;
}

function openPool(url: string) {
  // A test breaks its connections: that is no error here.
  const log = makeLogger('fatal');
  const shared = makeDatabasePool({ log }, { url, max: 4, applicationName: 'test', isForMany: false });
  return { shared, end: () => shared.base.end() };
}
