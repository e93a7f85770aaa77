// What a trace is to the rest of the program: named steps of its work, one inside the other. It imports nothing, so
// that nothing of OpenTelemetry is loaded and no step costs anything where nobody asked for traces (start-tracing.ts).
// A step's attributes are never personal data, secrets or messages of errors: numbers, identifiers of ours, fixed
// words.

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  /** Adds what was not known when it began. */
  set(attributes: Attributes): void;
  /** Marks it as failed; `code` is a fixed word or a number, never a message. */
  fail(code: string): void;
  /** Marks it as failed by the error, of which it keeps the code or the name, never the message. */
  failWith(error: unknown): void;
  /** What names it in another process, as W3C's `traceparent` spells it; null where nothing is traced. */
  readonly reference: string | null;
}

/** A step that has begun, for whoever has to end it. */
export interface OpenSpan extends Span {
  /** Returns what `work` returns; what it does meanwhile is inside this step. */
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

/** What OpenTelemetry is to this file. */
export interface Tracer {
  /** Begins a step inside the one that is under way; else, and where it has a cause, inside its cause. */
  begin(name: string, start: SpanStart): OpenSpan;
  /** The identifiers of the step that is under way; null outside of any. */
  active(): { readonly traceId: string; readonly spanId: string } | null;
}

const NO_SPAN: Span = { set: () => {}, fail: () => {}, failWith: () => {}, reference: null };

/** One in a process, as its log is: whatever the process does while it is set is traced. */
let tracer: Tracer | null = null;

/** Has the process traced from now on, or no longer. */
export function useTracer(next: Tracer | null): void {
  tracer = next;
}

/** Returns what `work` returns, as a step that begins a trace, or goes on inside the step that is under way. */
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

/** Returns what `work` returns, as a step of the one that is under way; outside of any, it is not traced. */
export function inSpan<T>(name: string, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  return tracer?.active() ? inTrace(name, start, work) : work(NO_SPAN);
}

/** Begins a step of the one that is under way, and returns the function that ends it. */
export function beginSpan(name: string): () => void {
  return tracer?.active() ? tracer.begin(name, { attributes: {} }).end : () => {};
}

/** Returns what a log line says of the step that it belongs to. Shape: a new object, which the logger adds to. */
export function describeTrace(): { trace_id?: string; span_id?: string } {
  const active = tracer?.active();
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {};
}
