// The meaning of each error's code, for the status page and alerts. A test holds it equal to the table of
// docs/configuration.md.

export const ERROR_WORDS: Readonly<Record<string, string>> = {
  CONFIG_INVALID: 'A variable or an argument is missing or malformed; each is named. Exit code 2.',
  API_UNREACHABLE: 'No answer from the API. Tried again, in place and then for hours by the worker.',
  API_THROTTLED:
    '429: all processes pause until the time that the API names, five minutes at most. Costs no attempt.',
  REQUEST_WITHHELD:
    'This process was stopped (Ctrl-Z) for longer than its permit is valid: nothing was sent. Tried again at once.',
  API_UNAVAILABLE: 'The API answered 5xx or 408. Tried again like API_UNREACHABLE.',
  API_UNAUTHORIZED: '401: check the secret. Nothing further is sent until it works.',
  PROGRAM_CHANGED: 'The API has none of the records that the mirror has: another account.',
  API_REJECTED:
    'Another refusal (404, 422, a redirect, a web page), with the reasons. Tried again only if something in front of the API may have answered.',
  ANSWER_STORED:
    'A cache in front of the API answered a read (Age). Tried again by the worker; a payment waits half a minute. Have the cache pass on requests with cache-control: no-cache.',
  WRITE_UNKNOWN: 'A payment was sent and no answer came: settled by reading the live value.',
  CONTRACT_VIOLATION: 'A success whose body breaks the contract (HTML, cut JSON, no envelope).',
  LIST_UNVERIFIED: 'A list that the client read to its end may lack records.',
  LIST_NOT_SERVED:
    'The API does not list campaigns, commissions or payouts, or OPTIONAL_LISTS leaves them out. Exit code 2.',
  DB_UNREACHABLE:
    'Postgres, or the Redis of the queue, cannot be reached or used. Check DATABASE_URL or REDIS_URL, and the server.',
  DB_ACCESS_REFUSED:
    'The role lacks a right, row level security would leave rows out, or the database takes no writes or fires no trigger.',
  DB_FULL: 'The disk of Postgres is full: make room there. Workers go on by themselves then.',
  DB_REFUSED:
    'Postgres refused a statement for a reason of its own, such as a constraint, trigger or index that was added, or a time-out; the error of the run names it.',
  DB_SCHEMA_MISMATCH:
    'The tables are missing, incomplete or of another version: run affiliate-mirror migrate, update, or restore again.',
  PERSONAL_DATA_MISMATCH:
    "PII or the key is not the mirror's: set what the message names, or switch. Nothing is read or sent. Exit code 2.",
  DB_MIGRATION_FAILED: 'A migration failed (nothing was changed) or an applied one was edited.',
  EMBEDDED_POSTGRES_FAILED:
    'The embedded Postgres could not be started or shared; the message holds its own log.',
  CLOCK_WRONG:
    "This machine's clock is 10 seconds or more off the database's: correct the wrong one, then start the worker.",
  BUSY: 'Another process holds the run of a resource, a port or an export.',
  UNFORESEEN: 'A bug: please report it with the error.',
  ALERT_NOT_SENT:
    'The receiver of an alert did not take a message. A worker tries again; alerts test says why.',
  EXPORT_TARGET_UNWRITABLE:
    'An export, a payout file or a result could not be written. Its parts are removed.',
};
