// What a page says of an error's stable code: the words of docs/configuration.md, which a test holds equal.

/** By code: what it means, and what to do. */
export const ERROR_WORDS: Readonly<Record<string, string>> = {
  CONFIG_INVALID: 'A variable or an argument is missing or malformed; each is named. Exit code 2.',
  API_UNREACHABLE: 'No answer from the program. Tried again, in place and then for hours by the worker.',
  API_THROTTLED:
    '429: all processes pause until the time that the program names, five minutes at most. Costs no attempt.',
  REQUEST_WITHHELD:
    'This process was stopped (Ctrl-Z, a suspended machine) for longer than its permit may be used: nothing was sent. Tried again at once.',
  API_UNAVAILABLE: 'The program answered 5xx or 408. Tried again like API_UNREACHABLE.',
  API_UNAUTHORIZED: '401: check AFFILIATE_API_SECRET. Nothing further is sent until the secret works.',
  PROGRAM_CHANGED: 'The API has none of the records that the mirror has: another account.',
  API_REJECTED:
    'Another refusal (404, 422, a redirect, a web page), with the reasons. Not tried again where the program itself refuses. Where something in front of it may have answered, tried again by the worker for hours, and in place by a process that the program has answered before.',
  ANSWER_STORED:
    'A cache in front of the API answered a read from its store, and said so (Age). Tried again by the worker; a payment waits half a minute, at no cost. Have the cache pass on what is asked for with cache-control: no-cache.',
  WRITE_UNKNOWN: "A payment was sent and no answer of the program's came: settled by reading the live value.",
  CONTRACT_VIOLATION: 'A success whose body is not what the contract says (HTML, cut JSON, no envelope).',
  LIST_UNVERIFIED:
    'A list that the client read to its end may lack records. Commands never end with it: they report a run as unverified.',
  LIST_NOT_SERVED:
    'Campaigns or commissions were to be listed, but the program does not list them, or OPTIONAL_LISTS leaves them out. Exit code 2.',
  DB_UNREACHABLE:
    'Postgres, or the Redis that keeps the queue, cannot be reached or used: the message says why. Check DATABASE_URL or REDIS_URL, and the server.',
  DB_ACCESS_REFUSED:
    'The role lacks a right, or row level security would leave rows out, or the database takes no writes, or fires no trigger (session_replication_role): the message says which, and deployment what to grant.',
  DB_FULL: 'The disk of Postgres is full: make room there. Workers go on by themselves then.',
  DB_SCHEMA_MISMATCH:
    'The tables are missing or of another version; or, found by doctor and migrate, new rows get numbers that others have, or views, triggers or keys are lost: run affiliate-mirror migrate, update, or restore again.',
  PERSONAL_DATA_MISMATCH:
    "PII or the key is not the mirror's: set what the message names, or switch. Nothing is read or sent; a worker whose mirror is switched stores nothing more, and ends. Exit code 2.",
  DB_MIGRATION_FAILED: 'A migration failed (nothing of it remains) or an applied one was edited.',
  EMBEDDED_POSTGRES_FAILED:
    'The embedded Postgres could not be started or shared; the message holds its own log.',
  CLOCK_WRONG:
    "This machine's clock is 10 seconds or more off the database's: correct whichever is wrong, and start the worker again.",
  BUSY: 'Another process holds what is needed: the run of a resource, a port, an export.',
  EXPORT_TARGET_UNWRITABLE:
    'An export, a payout file or a result could not be written to its file, directory or bucket: the message says why. What was written of it is removed.',
  ALERT_NOT_SENT:
    'The receiver of an alert did not take a message. A worker tries again; alerts test says why.',
};
