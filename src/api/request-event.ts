// What a request leaves behind for others to see: an event for the caller, lines for a log, a step of a trace. It names
// no logger and no tracer, so that whoever uses the client as a library needs none.

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

/** What is about to be sent, for a trace. */
export interface TracedRequest {
  readonly method: 'GET' | 'PUT';
  /** The path with a placeholder for an identifier, without the query. */
  readonly route: string;
  readonly attempt: number;
  /** How long its permit was waited for. */
  readonly waitedMs: number;
}

/**
 * Returns what `send` returns, having made it a step of a trace. `send` is handed the function that notes the answer's
 * status, null where no answer came.
 */
export type TraceRequest = <T>(
  request: TracedRequest,
  send: (noteStatus: (status: number | null) => void) => Promise<T>,
) => Promise<T>;

/** Where requests and retries are written down; pino's loggers fit. */
export interface RequestLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
