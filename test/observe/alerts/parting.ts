// A receiver whose every answer comes when the database is away.

import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { TestDatabase } from '../../support/database.ts';
import { type Receiver, startReceiver } from './receivers.ts';

/** Returns the receiver, and what lets connections to the database again. */
export async function startParting(
  database: TestDatabase,
): Promise<{ receiver: Receiver; letBackIn: () => Promise<unknown> }> {
  const name = new URL(database.url).pathname.slice(1);
  const server = new pg.Client({ connectionString: inject('testPostgres').url });
  await server.connect();
  onTestFinished(() => server.end());
  const receiver = await startReceiver();
  receiver.answer = async () => {
    await server.query(`alter database ${name} allow_connections false`);
    await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    return { status: 200 };
  };
  return { receiver, letBackIn: () => server.query(`alter database ${name} allow_connections true`) };
}
