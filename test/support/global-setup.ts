// One Postgres for the whole test run, with one template database that holds our schema.
// TEST_DATABASE_URL names a server to use in place of the embedded one; its role must be allowed to create databases.

import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { buildProgram, makeProgramDirectory } from './build-program.ts';
import { makeDataDir } from './embedded-directories.ts';
import { NEIGHBOUR } from './neighbour.ts';
import { copyCluster, prepareCluster } from './prepared-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    testPostgres: TestPostgres;
    /** Of a cluster to be copied; see prepared-cluster.ts. */
    preparedCluster: string;
    /** The file that starts the program; see build-program.ts. */
    builtProgram: string;
  }
}

export interface TestPostgres {
  /** Of the server's database in which `create database` is run. */
  readonly url: string;
  /** The migrated database that every test database is a copy of. */
  readonly template: string;
}

interface Running {
  readonly postgres: TestPostgres;
  readonly preparedCluster: string;
  readonly builtProgram: string;
  stop(): Promise<void>;
}

// Each project runs this file in a module graph of its own, so what they share hangs on the process.
const shared = globalThis as { testPostgres?: { running: Promise<Running>; projects: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.testPostgres ??= { running: start(), projects: 0 };
  const entry = shared.testPostgres;
  entry.projects += 1;
  const running = await entry.running;
  project.provide('testPostgres', running.postgres);
  project.provide('preparedCluster', running.preparedCluster);
  project.provide('builtProgram', running.builtProgram);
  return async () => {
    entry.projects -= 1;
    if (entry.projects > 0) return;
    delete shared.testPostgres;
    await running.stop();
  };
}

async function start(): Promise<Running> {
  const given = process.env['TEST_DATABASE_URL'];
  const programDirectory = makeProgramDirectory();
  const [preparedCluster, builtProgram] = await Promise.all([
    prepareCluster(),
    buildProgram(programDirectory),
  ]);
  const removePrepared = () => {
    for (const directory of [preparedCluster, programDirectory]) {
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    }
  };
  process.once('exit', removePrepared);
  const server = given ? { url: given, stop: async () => {} } : await startServer(preparedCluster);
  const template = `template_${process.pid}_${Date.now()}`;
  try {
    await runOn(server.url, `create database ${template}`);
    await migrate(server.url, template);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    postgres: { url: server.url, template },
    preparedCluster,
    builtProgram,
    async stop() {
      await runOn(server.url, `drop database ${template} with (force)`);
      await server.stop();
      removePrepared();
      process.off('exit', removePrepared);
    },
  };
}

async function startServer(preparedCluster: string): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await makeDataDir();
  await copyCluster(preparedCluster, dataDir);
  const endAtOnce = () => removeServer(dataDir);
  // Ctrl-C makes vitest exit without tearing down, and only what is synchronous still runs.
  process.once('exit', endAtOnce);
  const server = await openEmbeddedPostgres({ log: makeLogger('warn') }, { dataDir });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      removeServer(dataDir);
      process.off('exit', endAtOnce);
    },
  };
}

/** Stops the server and removes its directories. */
function removeServer(dataDir: string): void {
  const home = join(dataDir, 'postgres');
  if (existsSync(home)) {
    const directory = realpathSync(home);
    const pidFile = join(directory, 'data', 'postmaster.pid');
    if (existsSync(pidFile)) process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGQUIT');
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  }
  rmSync(dataDir, { recursive: true, force: true });
}

/** Makes the schemas of the tests' program and of another, which no test may touch (support/database.ts). */
async function migrate(serverUrl: string, database: string): Promise<void> {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  const log = makeLogger('warn');
  const pool = makePool(
    { log },
    { url: url.href, schema: 'mirror', max: 1, applicationName: 'test template' },
  );
  try {
    await runMigrations(pool, { schema: 'mirror' });
    await runMigrations(pool.shared.of(NEIGHBOUR), { schema: NEIGHBOUR });
  } finally {
    await pool.end();
  }
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect().catch((error: unknown) => {
    throw new Error(
      'the Postgres of the tests does not answer. Without TEST_DATABASE_URL, they start one of their own.',
      { cause: error },
    );
  });
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
