// Listens to Postgres' notifications for as long as a worker runs. Callers must not rely on them: one that is sent
// while the connection is lost never arrives.

import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { sleepOrAbort } from '../sleep.ts';
import type { ConnectionPool } from './connection-pool.ts';

/** The wait before a lost connection is opened again. */
const RECONNECT_MS = 2000;

export interface ListenInput {
  /** A plain lower-case name. */
  readonly channel: string;
  /** Of the notifications on the channel, only those with this text. */
  readonly payload: string;
  /** Also called whenever a connection is opened: something may have been missed before. */
  readonly onHeard: () => void;
}

/** Listens until the signal aborts, on one connection of the pool. Never throws: a lost connection is opened again. */
export async function listen(
  { pool, log }: { pool: ConnectionPool; log: Logger },
  input: ListenInput,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await listenOnce(pool, input, signal);
    } catch (error) {
      log.debug({ channel: input.channel, reason: describeError(error) }, 'db.listener_lost');
    }
    await sleepOrAbort(RECONNECT_MS, signal);
  }
}

async function listenOnce(
  pool: ConnectionPool,
  { channel, payload, onHeard }: ListenInput,
  signal: AbortSignal,
): Promise<void> {
  const connection = await pool.connect();
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  try {
    connection.on('end', stop);
    signal.addEventListener('abort', stop);
    connection.on('notification', (message) => {
      if (message.payload === payload) onHeard();
    });
    await connection.query(`listen ${channel}`);
    onHeard();
    if (!signal.aborted) await over;
  } finally {
    // The signal outlives each connection.
    signal.removeEventListener('abort', stop);
    // Closes it: in the pool, it would go on listening for its next user.
    connection.release(true);
  }
}
