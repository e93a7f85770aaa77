// Finds out whether a pooler keeps a connection to one client, as session mode does, or shares it out.
//
// Locks of a session, LISTEN and settings need a connection of their own. In transaction mode, a client that is not in
// a transaction has none: another one that begins gets the same, or the first one is moved to another meanwhile.

import { Client, type ClientBase, type ClientConfig, type QueryConfig } from 'pg';
import { ConfigError } from '../errors.ts';

/** With much else going on in the pool, one look may miss it. */
const LOOKS = 3;
const ANSWER_TIMEOUT_MS = 5000;
const PID = 'select pg_backend_pid() as pid';

/**
 * Resolves where the pooler that the client is connected through is in session mode. Needs a second connection for a
 * moment.
 *
 * Throws: ConfigError where it is not, which says what to connect to; pg's time-out where there is no second
 * connection; the database's errors.
 */
export async function refuseSharing(client: ClientBase, config: ClientConfig): Promise<void> {
  const other = new Client(config);
  // What breaks it is reported by its statements.
  other.on('error', () => {});
  await other.connect();
  try {
    const own = await ask(client, PID);
    const look = async () => {
      if ((await ask(other, PID)) === own || (await ask(client, PID)) !== own) throw shared();
    };
    for (let times = 1; times <= LOOKS; times += 1) {
      await look();
      await ask(other, 'begin');
      await look();
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
