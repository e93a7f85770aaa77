// The catalogue of the errors that a user or a retry policy must tell apart.
// `code` is stable, `retry` is data; no code decides by an error's message.

/**
 * What may be done about an error:
 * `never` – the same call will fail again; `soon` – try again after a backoff;
 * `after` – try again when `retryAfterMs` has passed; `reconcile` – read the live value before trying again.
 */
export type Retry = 'never' | 'soon' | 'after' | 'reconcile';

export abstract class AppError extends Error {
  abstract readonly code: string;
  abstract readonly retry: Retry;
  /** Exit code of a command that ends with this error: 1 failed, 2 wrong usage or configuration. */
  readonly exitCode: 1 | 2 = 1;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Thrown when the environment or the arguments are wrong. Carries every problem found, not only the first. */
export class ConfigError extends AppError {
  readonly code = 'CONFIG_INVALID';
  readonly retry = 'never';
  override readonly exitCode = 2;
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Thrown when the program could not be reached or did not answer in time; nothing is known to have arrived. */
export class ApiUnreachable extends AppError {
  readonly code = 'API_UNREACHABLE';
  readonly retry = 'soon';
}

/** Thrown on 429. `retryAfterMs` is what the answer's headers ask for, or null where it names nothing. */
export class ApiThrottled extends AppError {
  readonly code = 'API_THROTTLED';
  readonly retry = 'after';
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown when a request was not sent, since its process had been stopped for too long just before. */
export class RequestWithheld extends AppError {
  readonly code = 'REQUEST_WITHHELD';
  readonly retry = 'soon';
}

/** Thrown on 5xx and 408. */
export class ApiUnavailable extends AppError {
  readonly code = 'API_UNAVAILABLE';
  readonly retry = 'soon';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Thrown on 401: the secret is missing or wrong, and every further request would fail too. */
export class ApiUnauthorized extends AppError {
  readonly code = 'API_UNAUTHORIZED';
  readonly retry = 'never';
}

/** Thrown when the API answers with none of the records that the mirror has: most likely it is another account. */
export class ProgramChanged extends AppError {
  readonly code = 'PROGRAM_CHANGED';
  readonly retry = 'never';
}

/** Thrown on any other answer below 500 that is not a success (a redirect, 404, 422 …). */
export class ApiRejected extends AppError {
  readonly code = 'API_REJECTED';
  /** What is in front of the program may find it again. */
  readonly retry: 'never' | 'soon';
  readonly status: number;
  /** What the program says, `error` before its `details`; empty where it is not in the program's form. */
  readonly details: readonly string[];
  /** When the request was allowed to be sent, as ISO 8601 text: the answer knows of nothing that happened later. */
  readonly askedAt: string;
  /** When the answer was there, as ISO 8601 text. */
  readonly answeredAt: string;
  /**
   * Whether the program itself refuses. False where something in front of it may have answered, which says nothing of
   * what was asked for: a redirect, a web page, a 404 for a list that every program has.
   */
  readonly isOfProgram: boolean;

  constructor(
    message: string,
    status: number,
    details: readonly string[],
    {
      askedAt,
      answeredAt,
      isOfProgram,
    }: { readonly askedAt: string; readonly answeredAt: string; readonly isOfProgram: boolean },
  ) {
    super(message);
    this.retry = isOfProgram ? 'never' : 'soon';
    this.status = status;
    this.details = details;
    this.askedAt = askedAt;
    this.answeredAt = answeredAt;
    this.isOfProgram = isOfProgram;
  }
}

/**
 * Thrown when something in front of the program answered a read from its store: the answer is older than the question.
 */
export class AnswerStored extends AppError {
  readonly code = 'ANSWER_STORED';
  readonly retry = 'soon';
}

/** Thrown when a PUT was sent and no usable answer came: it may have been applied, and only a GET shows whether. */
export class WriteOutcomeUnknown extends AppError {
  readonly code = 'WRITE_UNKNOWN';
  readonly retry = 'reconcile';
}

/** Thrown on a 2xx whose body is not what the contract says: HTML, cut JSON, no envelope, too large. */
export class ContractViolation extends AppError {
  readonly code = 'CONTRACT_VIOLATION';
  readonly retry = 'soon';
}

/** Thrown by the library's lists when a list was read to its end, and records may be missing all the same. */
export class ListUnverified extends AppError {
  readonly code = 'LIST_UNVERIFIED';
  readonly retry = 'soon';
}

/** Thrown when commissions are to be listed, and the program does not list them, or is not to be asked for it. */
export class ListNotServed extends AppError {
  readonly code = 'LIST_NOT_SERVED';
  readonly retry = 'never';
  override readonly exitCode = 2;
}

/** Thrown when the database cannot be reached, or the connection is lost. */
export class DatabaseUnreachable extends AppError {
  readonly code = 'DB_UNREACHABLE';
  readonly retry = 'soon';
}

/** Thrown when the database answers, but its role may not do what is needed, or nothing may be written at all. */
export class AccessRefused extends AppError {
  readonly code = 'DB_ACCESS_REFUSED';
  // Once a grant or a failover has changed that, nobody needs to start anything again.
  readonly retry = 'soon';
}

/** Thrown when the database answers, and its disk has no room for what is to be written. */
export class DatabaseFull extends AppError {
  readonly code = 'DB_FULL';
  readonly retry = 'soon';
}

/** Thrown when this machine's clock differs too much from the database's for a worker to run. */
export class ClockWrong extends AppError {
  readonly code = 'CLOCK_WRONG';
  readonly retry = 'soon';
}

/** Thrown when the database answers, but its schema is missing, incomplete, older or newer than this version. */
export class SchemaMismatch extends AppError {
  readonly code = 'DB_SCHEMA_MISMATCH';
  readonly retry = 'never';
}

/** Thrown when this process is set to keep personal data otherwise than the mirror does, or has another key. */
export class PersonalDataMismatch extends AppError {
  readonly code = 'PERSONAL_DATA_MISMATCH';
  readonly retry = 'never';
  override readonly exitCode = 2;
}

/** Thrown when a migration fails or an applied one was edited since. Nothing of the failed one remains. */
export class MigrationFailed extends AppError {
  readonly code = 'DB_MIGRATION_FAILED';
  readonly retry = 'never';
}

/** Thrown when the embedded Postgres cannot be started or shared. */
export class EmbeddedPostgresFailed extends AppError {
  readonly code = 'EMBEDDED_POSTGRES_FAILED';
  readonly retry = 'never';
}

/** Thrown when another process holds what this command needs (a run of the same resource, a port, a directory). */
export class Busy extends AppError {
  readonly code = 'BUSY';
  readonly retry = 'soon';
}

/** Thrown when an export, a payout file or a result cannot be written. What was written of it is removed. */
export class ExportTargetUnwritable extends AppError {
  readonly code = 'EXPORT_TARGET_UNWRITABLE';
  readonly retry = 'soon';
}

/** Thrown when the receiver of an alert did not take a message. Names the receiver's host, and nothing that it said. */
export class AlertNotSent extends AppError {
  readonly code = 'ALERT_NOT_SENT';
  readonly retry: 'never' | 'soon' | 'after';
  /** Stable code of what happened, such as HTTP_503, EAUTH or ETIMEDOUT. */
  readonly reasonCode: string;
  /** What the receiver asks for; null where it names nothing. */
  readonly retryAfterMs: number | null;
  /** Whether the message was on its way by then, so that only its receiver knows whether it arrived. */
  readonly mayHaveArrived: boolean;

  constructor(
    message: string,
    reasonCode: string,
    // A final one would be refused again.
    { isFinal = false, retryAfterMs = null as number | null, mayHaveArrived = false } = {},
  ) {
    super(message);
    this.retry = isFinal ? 'never' : retryAfterMs === null ? 'soon' : 'after';
    this.reasonCode = reasonCode;
    this.retryAfterMs = retryAfterMs;
    this.mayHaveArrived = mayHaveArrived;
  }
}
