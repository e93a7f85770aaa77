// The interfaces by which a request is observed: events, a log, a trace. They name no logger and no tracer, so that a
// user of the library needs none.

/** One request that was sent, or could not be; `status` is null if no answer came. */
export interface RequestEvent {
  readonly method: 'GET' | 'PUT';
  /** Without the query, which may hold an email address. */
  readonly path: string;
  readonly status: number | null;
  readonly durationMs: number;
  /** Counted from 1 for each call: a retry is a request of its own. */
  readonly attempt: number;
}

export interface TracedRequest {
  readonly method: 'GET' | 'PUT';
  /** The path with a placeholder for an identifier, without the query. */
  readonly route: string;
  readonly attempt: number;
  /** How long it waited for its permit. */
  readonly waitedMs: number;
}

/**
 * Makes `send` a step of a trace, and returns its result. `send` reports the answer's status to `noteStatus`, null if
 * no answer came.
 */
export type TraceRequest = <T>(
  request: TracedRequest,
  send: (noteStatus: (status: number | null) => void) => Promise<T>,
) => Promise<T>;

/** The log of requests and retries; pino's loggers fit. */
export interface RequestLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
