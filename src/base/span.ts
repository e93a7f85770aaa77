// The interface of tracing for all other code: named, nested steps. It imports nothing, so that without a setting for
// traces OpenTelemetry is not loaded and a step costs nothing (observe/tracing/start-tracing.ts). The attributes of a
// step are numbers, our own identifiers and fixed words: no personal data, secrets or messages of errors.

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  set(attributes: Attributes): void;
  /** Marks it as failed; `code` is a fixed word or a number, never a message. */
  fail(code: string): void;
  /** Marks it as failed by the error: its code or its name, never the message. */
  failWith(error: unknown): void;
  /** W3C's `traceparent`, for another process; null if nothing is traced. */
  readonly reference: string | null;
}

/** Its caller ends it. */
export interface OpenSpan extends Span {
  /** Runs `work` inside this step. */
  run<T>(work: () => T): T;
  end(): void;
}

export interface SpanStart {
  readonly attributes: Attributes;
  /** Whether it is a request to another server. */
  readonly isRequest?: boolean;
  /** The step of another process that caused it, by its reference. */
  readonly cause?: string | null;
  /** Steps whose results it works on, by their references. */
  readonly links?: readonly (string | null)[];
}

export interface Tracer {
  /** Begins a step inside the current one; without a current one, inside its cause. */
  begin(name: string, start: SpanStart): OpenSpan;
  /** The identifiers of the current step; null outside of any. */
  active(): { readonly traceId: string; readonly spanId: string } | null;
}

const NO_SPAN: Span = { set: () => {}, fail: () => {}, failWith: () => {}, reference: null };

/** One for the whole process. */
let tracer: Tracer | null = null;

export function useTracer(next: Tracer | null): void {
  tracer = next;
}

/** Runs `work` as a step of the current one, or as the first step of a trace. */
export async function inTrace<T>(
  name: string,
  start: SpanStart,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (tracer === null) return await work(NO_SPAN);
  const span = tracer.begin(name, start);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.failWith(error);
    throw error;
  } finally {
    span.end();
  }
}

/** Runs `work` as a step of the current one; outside of any, it is not traced. */
export function inSpan<T>(name: string, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  return tracer?.active() ? inTrace(name, start, work) : work(NO_SPAN);
}

/** Begins a step of the current one, and returns the function that ends it. */
export function beginSpan(name: string): () => void {
  return tracer?.active() ? tracer.begin(name, { attributes: {} }).end : () => {};
}

/** For log lines. Returns a new object each time: the logger adds to it. */
export function describeTrace(): { trace_id?: string; span_id?: string } {
  const active = tracer?.active();
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {};
}
