// One Postgres for the whole test run, with one template database that holds our schema.
// TEST_DATABASE_URL names a server to use in place of the embedded one; its role must be allowed to create databases.

import pg from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    testPostgres: TestPostgres;
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
  return async () => {
    entry.projects -= 1;
    if (entry.projects > 0) return;
    delete shared.testPostgres;
    await running.stop();
  };
}

async function start(): Promise<Running> {
  const url = process.env['TEST_DATABASE_URL'] ?? 'postgres://root@127.0.0.1:5432/test';
  const template = `template_${process.pid}_${Date.now()}`;
  await runOn(url, `create database ${template}`);
  return {
    postgres: { url, template },
    stop: () => runOn(url, `drop database ${template} with (force)`),
  };
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
