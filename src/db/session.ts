// What is set on every connection before anybody uses it, and what is learnt from it.
//
// Decision: one statement after the connect, not startup options. A pooler refuses or drops startup options, and a role
// or a database may have defaults of its own (a German DateStyle, serializable transactions, a time-out of a second)
// that nothing here was written for.
//
// Decision: where the pid that the server named at the connect is not the one that answers, a pooler is in between.
// Then nothing is set before it is known to keep a connection to itself (refuse-sharing.ts): in transaction mode the
// settings would go to connections that other programs share. A direct connection pays nothing for that.

import type { ClientBase, QueryConfig } from 'pg';
import { AccessRefused } from '../errors.ts';
import { onlyRow } from './only-row.ts';
import { reportsSchema } from './sibling-schema.ts';

/** A statement that is not answered by then fails: a pooler without a free connection lets it wait. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * A process that is stopped in the middle of a transaction (Ctrl-Z, a suspended container) keeps its locks for this
 * long; then the server closes its connection. Between two statements a running process needs milliseconds.
 */
const IDLE_IN_TRANSACTION = '5s';

const CHECK_INTERVAL = 'client_connection_check_interval';
/** In the version of a Postgres, the systems that can tell. On others, Windows among them, the setting is refused. */
const CAN_TELL = 'linux|darwin|bsd';

const USER_TIMEOUT = 'tcp_user_timeout';

/**
 * Off, a usual default where data are analysed, a commit is answered before it is on the disk, and a crash of Postgres
 * undoes it. Every other value is a choice between safe ones, and stays.
 */
const COMMITS = 'synchronous_commit';

const SETTINGS: Readonly<Record<string, string>> = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
  // The locks of a machine that lost its power are released after a minute, not after the system's two hours.
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
  // While an answer is on its way to it, no keepalive is sent.
  [USER_TIMEOUT]: '60s',
  // A statement of a process that is gone ends. By itself, Postgres sees that only when it has something to send: until
  // then it would go on waiting for a lock, and let others wait behind it, or write a table anew to the end.
  [CHECK_INTERVAL]: '1s',
  [COMMITS]: 'on',
  // Where a policy would leave rows out, Postgres refuses (row-security.ts).
  row_security: 'off',
};

/** No limit, except where the address itself sets one: waits have limits of their own here, where they need them. */
const UNLIMITED = ['statement_timeout', 'lock_timeout', 'idle_session_timeout', 'transaction_timeout'];

/** What one connection is. */
export interface Session {
  /** Of the server: 15, 16 … */
  readonly version: number;
  readonly role: string;
  /** Of the process that serves it, also behind a pooler. */
  readonly pid: number;
  readonly isPooled: boolean;
  /** In which the database keeps its text: UTF8, LATIN1 … */
  readonly encoding: string;
}

interface Answer {
  readonly version: number;
  readonly encoding: string;
  readonly pid: number;
  readonly role: string;
  readonly is_read_only: boolean;
  readonly fires_triggers: boolean;
}

const sessions = new WeakMap<object, Session>();

/** Returns what is known of a connection that was set up. */
export function readSession(client: object): Session {
  const session = sessions.get(client);
  if (session === undefined) throw new TypeError('the connection was not set up');
  return session;
}

export interface SessionInput {
  readonly schema: string;
  /** Startup options that the address itself asks for. */
  readonly options: string;
}

/**
 * Returns what sets up a new connection, for pg's `onConnect`: a name means the mirror's table, and else the report.
 * Where a pooler is in between, `refuseSharing` is called before anything is set, until it has once found that the
 * pooler keeps a connection to itself.
 *
 * Throws: AccessRefused where no trigger would fire; the database's errors; what `refuseSharing` throws. pg's pool then
 * closes the connection.
 */
export function makeSetUp(
  { schema, options }: SessionInput,
  refuseSharing: (client: ClientBase) => Promise<void>,
): (client: ClientBase) => Promise<void> {
  const unlimited = UNLIMITED.filter((name) => !setsOption(options, name)).map((name) => [name, '0']);
  const settings = {
    ...Object.fromEntries(unlimited),
    ...SETTINGS,
    search_path: `${schema}, ${reportsSchema(schema)}`,
  };
  let isKnown = false;
  let finding: Promise<void> | null = null;
  return async (client) => {
    const named = namedPid(client);
    let answer = await ask(client, settings, isKnown ? null : named);
    const isPooled = answer.pid !== named;
    if (isPooled && !isKnown) {
      finding ??= refuseSharing(client).finally(() => {
        finding = null;
      });
      await finding;
      isKnown = true;
      answer = await ask(client, settings, null);
    }
    const { version, role, pid, encoding, is_read_only, fires_triggers } = answer;
    if (!fires_triggers) throw new AccessRefused(NO_TRIGGERS);
    if (is_read_only) await overruleRole(client);
    sessions.set(client, { version, role, pid, isPooled, encoding });
  };
}

// As `-c lock_timeout=`, `-clock_timeout=` or `--lock-timeout=`, and not within deadlock_timeout.
function setsOption(options: string, name: string): boolean {
  return new RegExp(`(?:-c|\\b)${name.replaceAll('_', '[_-]')}\\b`, 'i').test(options);
}

/** Returns the pid that the server named when it let us in; a pooler names one of its own making. */
function namedPid(client: ClientBase): number {
  return 'processID' in client ? Number(client.processID) : 0;
}

/** Sets everything, and says where; with a pid, sets nothing where another one answers. */
async function ask(
  client: ClientBase,
  settings: Readonly<Record<string, string>>,
  onlyPid: number | null,
): Promise<Answer> {
  const query: QueryConfig & { query_timeout: number } = {
    // A setting that this version of Postgres does not have is left out.
    text: `
      select current_setting('server_version_num')::int / 10000 as version, pg_backend_pid() as pid,
             current_user::text as role, current_setting('server_encoding') as encoding,
             current_setting('default_transaction_read_only') = 'on' as is_read_only,
             current_setting('session_replication_role') <> 'replica' as fires_triggers,
             (select count(set_config(name, value, false)) from unnest($1::text[], $2::text[]) as wanted (name, value)
              where current_setting(name, true) is not null
                and (name <> '${CHECK_INTERVAL}' or version() ~* '${CAN_TELL}')
                and (name <> '${USER_TIMEOUT}' or version() ~* 'linux')
                and (name <> '${COMMITS}' or current_setting(name) = 'off')
                and ($3::int is null or pg_backend_pid() = $3::int))::int as settings`,
    values: [Object.keys(settings), Object.values(settings), onlyPid],
    query_timeout: ANSWER_TIMEOUT_MS,
  };
  const answer = await client.query<Answer>(query);
  return onlyRow(answer, 'the settings of the session');
}

/**
 * A role's own default is a habit of that role, and is overruled. A database or a server that is read-only is meant to
 * be: providers set it when a disk runs full. Nothing is set then, so that the server's own word goes on to count.
 */
async function overruleRole(client: ClientBase): Promise<void> {
  await client.query(`
    select set_config('default_transaction_read_only', 'off', false)
    from pg_settings where name = 'default_transaction_read_only' and source like '%user'`);
}

/**
 * As a replica, Postgres fires no trigger, and so writes no history and checks no request for a payment. It takes a
 * superuser to set that anew here, so whoever set it resets it.
 */
const NO_TRIGGERS =
  'session_replication_role is replica, so that Postgres would keep no history and check no payment: reset it where it is set, as for this role or database (\\drds of psql), for the server, or in the options of DATABASE_URL';
