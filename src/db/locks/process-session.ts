// The one session of a process that outlives its transactions: it holds the locks of all its programs, and it listens.
//
// The locks are advisory locks of Postgres, which end with the session. A stopped process keeps its connection: so
// while it holds a lock, the session sends a statement every few seconds, and the server closes a session that sends
// none. A set of names separates two jobs of this process, because a session may take its own lock twice.
//
// Decision: a lost session loses its locks, and the work goes on. The attempt number of a run prevents a second writer.
// With a connection for each run, export and listener instead, half of a worker's connections only waited.

import { type Kysely, sql } from 'kysely';
import { escapeLiteral, type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { sleepOrAbort } from '../../base/sleep.ts';
import type { Pool, SharedPool } from '../connect/shared-pool.ts';
import { onlyRow } from '../only-row.ts';
import type { Tables } from '../tables.ts';
import { findLockHolder, nameSession } from './name-session.ts';

const KEEPALIVE_MS = 4000;
/**
 * The server closes a silent session after this. Much longer than the pause, since a busy machine may starve a process.
 */
const CLOSED_AFTER = '15s';
const TIMEOUT = 'idle_session_timeout';
/** The wait before a lost session is opened again, to listen. */
const RECONNECT_MS = 2000;

export type Locked<T> =
  | { readonly isHeldByOther: false; readonly result: T }
  /** `holder` is the name of the session that holds it, for messages. */
  | { readonly isHeldByOther: true; readonly holder: string };

export interface ListenInput {
  /** A plain lower-case name. */
  readonly channel: string;
  /** Of the notifications on the channel, only those with this text. */
  readonly payload: string;
  /** Also called when the session is opened: a notification may have been missed before. */
  readonly onNotified: () => void;
}

interface Opened {
  readonly client: PoolClient;
  /** Sends a statement after those before it: pg deprecates a second one while one is under way. */
  query<Row extends QueryResultRow>(text: string): Promise<QueryResult<Row>>;
  close(isBroken: boolean): void;
}

interface ProcessSession {
  /** The locks that this process holds or is taking. */
  readonly names: Set<string>;
  /** Opens the session, unless it is open. The connection goes back to the pool with the last user. */
  use<T>(work: (opened: Opened) => Promise<T>): Promise<T>;
}

interface Attached {
  readonly session: ProcessSession;
  readonly schema: string;
}

const attached = new WeakMap<Kysely<Tables>, Attached>();
const sessions = new WeakMap<SharedPool, ProcessSession>();
const clients = new WeakSet<PoolClient>();

/**
 * Gives the handle the session of its process, which takes a connection of the shared pool while a lock or a listener
 * of any program needs it.
 */
export function attachSession(db: Kysely<Tables>, { shared, schema }: Pool): void {
  const session = sessions.get(shared) ?? makeSession(shared.base);
  sessions.set(shared, session);
  attached.set(db, { session, schema: schema ?? '' });
}

function sessionOf(db: Kysely<Tables>): Attached {
  const session = attached.get(db);
  if (session === undefined) throw new TypeError('the handle has no session: it is a transaction');
  return session;
}

function makeSession(pool: Pool): ProcessSession {
  const names = new Set<string>();
  let users = 0;
  let opening: Promise<Opened> | null = null;
  let opened: Opened | null = null;
  const open = async (): Promise<Opened> => {
    const client = await pool.connect().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    let last: Promise<unknown> = Promise.resolve();
    const query = <Row extends QueryResultRow>(text: string) => {
      const answer = last.then(() => client.query<Row>(text));
      last = answer.catch(() => undefined);
      return answer;
    };
    const keepalive = setInterval(() => {
      if (names.size > 0) query('select 1').catch(() => close(true));
    }, KEEPALIVE_MS);
    const close = (isBroken: boolean) => {
      if (opened?.client !== client) return;
      opening = null;
      opened = null;
      clearInterval(keepalive);
      client.off('error', closeLost);
      client.off('end', closeLost);
      client.release(isBroken);
    };
    const closeLost = () => close(true);
    // Each program listens.
    client.setMaxListeners(0);
    client.once('error', closeLost);
    client.once('end', closeLost);
    clients.add(client);
    opened = { client, query, close };
    return opened;
  };
  return {
    names,
    async use(work) {
      users += 1;
      try {
        opening ??= open();
        return await work(await opening);
      } finally {
        users -= 1;
        if (users === 0) opened?.close(false);
      }
    },
  };
}

/** Returns whether the connection is or was a session's, whose statements never wait for a lock. */
export function isOfProcessSession(client: PoolClient): boolean {
  return clients.has(client);
}

/**
 * Runs `work` while the process holds the lock of that name in the mirror's schema, and returns its result. If another
 * process holds it, or another job of this one, returns that at once.
 *
 * Throws: what `work` throws; the database's errors.
 */
export async function withLock<T>(
  db: Kysely<Tables>,
  name: string,
  work: () => Promise<T>,
): Promise<Locked<T>> {
  const { session, schema } = sessionOf(db);
  const { names, use } = session;
  const text = `affiliate-mirror ${name} ${schema}`;
  const key = `hashtextextended(${escapeLiteral(text)}, 0)`;
  if (names.has(text)) return await heldByOther(db, key);
  names.add(text);
  try {
    return await use(async ({ query, close }) => {
      // One statement: a process may be stopped between any two.
      const answer = await query<{ locked: boolean }>(`
        with taken as materialized (select pg_try_advisory_lock(${key}) as locked)
        select locked, case when locked then set_config('${TIMEOUT}', '${CLOSED_AFTER}', false) end from taken`);
      if (!onlyRow(answer, 'a lock').locked) return await heldByOther(db, key);
      try {
        return { isHeldByOther: false, result: await work() };
      } finally {
        const reset = names.size > 1 ? '' : `, set_config('${TIMEOUT}', '0', false)`;
        await query(`select pg_advisory_unlock(${key})${reset}`).catch(() => close(true));
      }
    });
  } finally {
    names.delete(text);
  }
}

async function heldByOther(
  db: Kysely<Tables>,
  key: string,
): Promise<{ isHeldByOther: true; holder: string }> {
  const holder = await findLockHolder(db, sql.raw(key));
  // The lock may have been released meanwhile.
  const name = holder === null ? 'another process, which has ended since' : nameSession(holder);
  return { isHeldByOther: true, holder: name };
}

/** Listens until the signal aborts. Never throws: a lost session is opened again, and may have missed notifications. */
export async function listen(db: Kysely<Tables>, input: ListenInput, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // The connection's own listener reports what was lost.
    await sessionOf(db)
      .session.use((session) => listenOn(session, input, signal))
      .catch(() => undefined);
    await sleepOrAbort(RECONNECT_MS, signal);
  }
}

async function listenOn(
  { client, query }: Opened,
  { channel, payload, onNotified }: ListenInput,
  signal: AbortSignal,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  const hear = (message: { payload?: string | undefined }) => {
    if (message.payload === payload) onNotified();
  };
  client.on('notification', hear);
  client.once('end', stop);
  signal.addEventListener('abort', stop);
  try {
    await query(`listen ${channel}`);
    onNotified();
    if (!signal.aborted) await over;
  } finally {
    client.off('notification', hear);
    client.off('end', stop);
    signal.removeEventListener('abort', stop);
    // The pool's next taker of the connection hears nothing. A lost connection needs no statement.
    if (client.listenerCount('notification') === 0) await query('unlisten *').catch(() => undefined);
  }
}
