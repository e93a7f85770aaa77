// The settings of every new connection, and the properties that are read from it.
//
// Decision: one statement after the connect, not startup options. A pooler refuses or drops startup options, and a role
// or a database may have other defaults (a German DateStyle, serializable transactions, a time-out of a second).
//
// Decision: if another pid answers than the server named at the connect, there is a pooler. Then nothing is set before
// it is known to be in session mode (refuse-sharing.ts): in transaction mode the settings would go to connections that
// other clients share. A direct connection needs no further statement for that.

import type { ClientBase, QueryConfig } from 'pg';
import { AccessRefused } from '../../base/errors.ts';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { onlyRow } from '../only-row.ts';

/** A pooler without a free connection lets a statement wait. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * A process that is stopped in a transaction (Ctrl-Z, a suspended container) keeps its locks for this long; then the
 * server closes its connection. A running process needs milliseconds between two statements.
 */
const IDLE_IN_TRANSACTION = '5s';

const CHECK_INTERVAL = 'client_connection_check_interval';
/** The systems, in the version of a Postgres, that have it. Others, such as Windows, refuse the setting. */
const CAN_TELL = 'linux|darwin|bsd';

const USER_TIMEOUT = 'tcp_user_timeout';

/**
 * If it is off, a usual default for analysis, a commit is answered before it is on the disk, and a crash of Postgres
 * undoes it. All other values are safe, and stay.
 */
const COMMITS = 'synchronous_commit';

const SETTINGS: Readonly<Record<string, string>> = {
  // No limit: our waits have their own.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
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
  // The locks of a machine without power are released after a minute, not after the system's two hours.
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
  // No keepalive is sent while an answer is on its way.
  [USER_TIMEOUT]: '60s',
  // The statement of a killed process ends. By default Postgres notices that only when it sends an answer: until then
  // it would wait for a lock, with others behind it, or rewrite a table to its end.
  [CHECK_INTERVAL]: '1s',
  [COMMITS]: 'on',
  // If a policy would leave rows out, Postgres refuses (check-access.ts).
  row_security: 'off',
};

export interface Session {
  /** Of the server: 15, 16 … */
  readonly version: number;
  readonly role: string;
  /** Of the server process, also behind a pooler. */
  readonly pid: number;
  readonly isPooled: boolean;
  /** Of the database: UTF8, LATIN1 … */
  readonly encoding: string;
}

interface Answer {
  readonly version: number;
  readonly encoding: string;
  readonly pid: number;
  readonly role: string;
  readonly fires_triggers: boolean;
}

const sessions = new WeakMap<object, Session>();

export function readSession(client: object): Session {
  const session = sessions.get(client);
  if (session === undefined) throw new TypeError('the connection was not set up');
  return session;
}

/** Returns the search path of a program, null outside of any: a name means the mirror's table, or else the report. */
export function searchPath(schema: string | null): string {
  return schema === null ? 'pg_catalog' : `${schema}, ${reportsSchema(schema)}`;
}

/**
 * Returns a function that sets up a new connection with these settings besides, for pg's `onConnect`. Behind a pooler,
 * `refuseSharing` is called before anything is set, until it has resolved once.
 *
 * Throws: AccessRefused if triggers do not fire; the database's errors; the errors of `refuseSharing`. pg's pool then
 * closes the connection.
 */
export function makeSetUp(
  others: Readonly<Record<string, string>>,
  refuseSharing: (client: ClientBase) => Promise<void>,
): (client: ClientBase) => Promise<void> {
  const settings = { ...SETTINGS, ...others };
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
    const { version, role, pid, encoding, fires_triggers } = answer;
    if (!fires_triggers) throw new AccessRefused(NO_TRIGGERS);
    sessions.set(client, { version, role, pid, isPooled, encoding });
  };
}

/** Returns the pid that the server named at the connect; a pooler invents one. */
function namedPid(client: ClientBase): number {
  return 'processID' in client ? Number(client.processID) : 0;
}

/** Sets the settings, and returns the properties; with `onlyPid`, sets nothing if another pid answers. */
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
 * As a replica, Postgres fires no trigger, and so writes no history and checks no payment request. Only a superuser
 * could change the setting here.
 */
const NO_TRIGGERS =
  'session_replication_role is replica, so that Postgres would keep no history and check no payment: reset it for this role or database (\\drds of psql), for the server, or in the options of DATABASE_URL';
