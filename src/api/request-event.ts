// What a request leaves behind for others to see: an event for the caller, and lines for a log. It names no logger, so
// that whoever uses the client as a library needs none.

/** One request that was sent, or could not be; `status` is null where no answer came. */
export interface RequestEvent {
  readonly method: 'GET' | 'PUT';
  /** Without the query, which may hold an email address. */
  readonly path: string;
  readonly status: number | null;
  readonly durationMs: number;
  /** Counted from 1 for each call: a retry is a request of its own. */
  readonly attempt: number;
}

/** Where requests and retries are written down; pino's loggers fit. */
export interface RequestLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
