// Finds out whether a pooler gives a connection to one client (session mode), or shares it among several.
//
// Locks of a session, LISTEN and settings need a connection of their own. In transaction mode, a client outside a
// transaction has none: a second client that begins a transaction gets the same, or the first client gets another.

import { Client, type ClientBase, type ClientConfig, type QueryConfig } from 'pg';
import { ConfigError } from '../../base/errors.ts';

/** With other traffic in the pool, one check may miss it. */
const CHECKS = 3;
const ANSWER_TIMEOUT_MS = 5000;
const PID = 'select pg_backend_pid() as pid';

/**
 * Resolves if the client's pooler is in session mode. Needs a second connection for a moment.
 *
 * Throws: ConfigError if it is not; pg's time-out if there is no second connection; the database's errors.
 */
export async function refuseSharing(client: ClientBase, config: ClientConfig): Promise<void> {
  const other = new Client(config);
  // Its statements report a lost connection.
  other.on('error', () => {});
  await other.connect();
  try {
    const own = await ask(client, PID);
    const check = async () => {
      if ((await ask(other, PID)) === own || (await ask(client, PID)) !== own) throw shared();
    };
    for (let times = 1; times <= CHECKS; times += 1) {
      await check();
      await ask(other, 'begin');
      await check();
      await ask(other, 'commit');
    }
  } finally {
    await other.end();
  }
}

function shared(): ConfigError {
  return new ConfigError([
    'DATABASE_URL leads to a pooler in transaction or statement mode, where locks, LISTEN and settings of a connection do not last: name the server itself, or a pool in session mode',
  ]);
}

async function ask(client: ClientBase, text: string): Promise<number> {
  const query: QueryConfig & { query_timeout: number } = { text, query_timeout: ANSWER_TIMEOUT_MS };
  const { rows } = await client.query<{ pid: number }>(query);
  return rows[0]?.pid ?? 0;
}
