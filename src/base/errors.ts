// The catalogue of the errors that a user or a retry policy must tell apart.
// `code` is stable, `retry` is data; no code decides by an error's message.

/**
 * The remedy of an error:
 * `never` – the same call will fail again; `soon` – try again after a backoff;
 * `after` – try again when `retryAfterMs` has passed; `reconcile` – read the live value before trying again.
 */
export type Retry = 'never' | 'soon' | 'after' | 'reconcile';

/** Exit code of a command that ends with an error: 1 failed, 2 wrong usage or configuration. */
type ExitCode = 1 | 2;

export abstract class AppError extends Error {
  abstract readonly code: string;
  abstract readonly retry: Retry;
  readonly exitCode: ExitCode = 1;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

// Named for the declarations of the package: the inferred type would need those of Node.
type ErrorClass<C extends string, R extends Retry> = new (
  message: string,
  options?: { cause?: unknown },
) => AppError & { readonly code: C; readonly retry: R };

function errorOf<C extends string, R extends Retry>(
  code: C,
  retry: R,
  exitCode: ExitCode = 1,
): ErrorClass<C, R> {
  return class extends AppError {
    readonly code = code;
    readonly retry = retry;
    override readonly exitCode = exitCode;
  };
}

/** Thrown when the environment or the arguments are wrong. Carries every problem found, not only the first. */
export class ConfigError extends errorOf('CONFIG_INVALID', 'never', 2) {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Thrown when the API could not be reached or did not answer in time. Nothing is known to have arrived. */
export class ApiUnreachable extends errorOf('API_UNREACHABLE', 'soon') {}

/** Thrown on 429. `retryAfterMs` is the wait that the answer's headers name; null if they name none. */
export class ApiThrottled extends errorOf('API_THROTTLED', 'after') {
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown when a request was not sent because its process had been stopped for too long just before. */
export class RequestWithheld extends errorOf('REQUEST_WITHHELD', 'soon') {}

/** Thrown on 5xx and 408. */
export class ApiUnavailable extends errorOf('API_UNAVAILABLE', 'soon') {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Thrown on 401: the secret is missing or wrong, and every further request would fail too. */
export class ApiUnauthorized extends errorOf('API_UNAUTHORIZED', 'never') {}

/** Thrown when the API answers with none of the records that the mirror has: most likely it is another account. */
export class ProgramChanged extends errorOf('PROGRAM_CHANGED', 'never') {}

interface RejectedAnswer {
  /** When the request was allowed to be sent, as ISO 8601 text: the answer knows of nothing that happened later. */
  readonly askedAt: string;
  /** When the answer was there, as ISO 8601 text. */
  readonly answeredAt: string;
  /**
   * Whether the API itself refuses. False if a proxy or a load balancer may have answered, which says nothing of the
   * record: a redirect, a web page, a 404 for a list that every program has.
   */
  readonly isOfProgram: boolean;
}

/** Thrown on any other answer below 500 that is not a success (a redirect, 404, 422 …). */
export class ApiRejected extends AppError implements RejectedAnswer {
  readonly code = 'API_REJECTED';
  /** `soon` if a proxy may have answered: the next answer may be the API's own. */
  readonly retry: 'never' | 'soon';
  readonly status: number;
  /** The API's sentences, `error` before its `details`; empty if the body is not in the API's form. */
  readonly details: readonly string[];
  readonly askedAt: string;
  readonly answeredAt: string;
  readonly isOfProgram: boolean;

  constructor(message: string, status: number, details: readonly string[], answer: RejectedAnswer) {
    super(message);
    this.retry = answer.isOfProgram ? 'never' : 'soon';
    this.status = status;
    this.details = details;
    this.askedAt = answer.askedAt;
    this.answeredAt = answer.answeredAt;
    this.isOfProgram = answer.isOfProgram;
  }
}

/** Thrown when a cache in front of the API answered a read from its store: the answer is older than the question. */
export class AnswerStored extends errorOf('ANSWER_STORED', 'soon') {}

/** Thrown when a PUT was sent and no usable answer came: it may have been applied, and only a GET shows whether. */
export class WriteOutcomeUnknown extends errorOf('WRITE_UNKNOWN', 'reconcile') {}

/** Thrown on a 2xx whose body is not what the contract says: HTML, cut JSON, no envelope, too large. */
export class ContractViolation extends errorOf('CONTRACT_VIOLATION', 'soon') {}

/** Thrown by the library's lists when a list was read to its end, and records may be missing all the same. */
export class ListUnverified extends errorOf('LIST_UNVERIFIED', 'soon') {}

/** Thrown when a list is asked for that the affiliate program does not have, or that OPTIONAL_LISTS leaves out. */
export class ListNotServed extends errorOf('LIST_NOT_SERVED', 'never', 2) {}

/** Thrown when the database cannot be reached, or the connection is lost. */
export class DatabaseUnreachable extends errorOf('DB_UNREACHABLE', 'soon') {}

/** Thrown when the role lacks a right, or the database takes no writes. `soon`: a grant or a failover ends it. */
export class AccessRefused extends errorOf('DB_ACCESS_REFUSED', 'soon') {}

/** Thrown when the database's disk has no room for the rows. */
export class DatabaseFull extends errorOf('DB_FULL', 'soon') {}

/** In the run log: Postgres refused a statement for another reason: a constraint, a trigger, a time-out. */
export class DatabaseRefused extends errorOf('DB_REFUSED', 'never') {}

/** In the run log: an error that is none of the catalogue, and so a bug. */
export class Unforeseen extends errorOf('UNFORESEEN', 'never') {}

/** Thrown when this machine's clock differs too much from the database's for a worker to run. */
export class ClockWrong extends errorOf('CLOCK_WRONG', 'soon') {}

/** Thrown when the database answers, but its schema is missing, incomplete, older or newer than this version. */
export class SchemaMismatch extends errorOf('DB_SCHEMA_MISMATCH', 'never') {}

/** Thrown when it is newer: this version can do nothing with it, now or later. */
export class SchemaNewer extends SchemaMismatch {}

/** Thrown when this process is set to store personal data otherwise than the mirror does, or has another key. */
export class PersonalDataMismatch extends errorOf('PERSONAL_DATA_MISMATCH', 'never', 2) {}

/** Thrown when a migration fails or an applied one was edited since. Nothing of the failed one remains. */
export class MigrationFailed extends errorOf('DB_MIGRATION_FAILED', 'never') {}

/** Thrown when the embedded Postgres cannot be started or shared. */
export class EmbeddedPostgresFailed extends errorOf('EMBEDDED_POSTGRES_FAILED', 'never') {}

/** Thrown when another process holds what this command needs (a run of the same resource, a port, a directory). */
export class Busy extends errorOf('BUSY', 'soon') {}

/** Thrown when an export, a payout file or a result cannot be written. Its written part is removed. */
export class ExportTargetUnwritable extends errorOf('EXPORT_TARGET_UNWRITABLE', 'soon') {}

/** Thrown when the receiver of an alert did not take a message. Names the receiver's host, and none of its words. */
export class AlertNotSent extends AppError {
  readonly code = 'ALERT_NOT_SENT';
  readonly retry: 'never' | 'soon' | 'after';
  /** Stable code of the failure, such as HTTP_503, EAUTH or ETIMEDOUT. */
  readonly reasonCode: string;
  /** The wait that the receiver asks for; null if it names none. */
  readonly retryAfterMs: number | null;
  /** Whether the message was on its way by then, so that only its receiver knows whether it arrived. */
  readonly mayHaveArrived: boolean;

  constructor(
    message: string,
    reasonCode: string,
    // A final failure would be repeated by every further attempt.
    { isFinal = false, retryAfterMs = null as number | null, mayHaveArrived = false } = {},
  ) {
    super(message);
    this.retry = isFinal ? 'never' : retryAfterMs === null ? 'soon' : 'after';
    this.reasonCode = reasonCode;
    this.retryAfterMs = retryAfterMs;
    this.mayHaveArrived = mayHaveArrived;
  }
}
