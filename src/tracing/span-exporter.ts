// Sends finished spans to a collector, as OTLP over HTTP in JSON. Written for a process that ends: unlike
// OpenTelemetry's own exporter, whose waits keep a process alive for seconds, this one can be abandoned at once.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { Agent, request } from 'undici';
import { errorCode } from '../describe-error.ts';

export interface ExporterOptions {
  readonly url: string;
  /** Secrets, as a rule. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called with every batch that is lost; the reason is a code or a status, never what a server wrote. */
  readonly onLost: (reason: string, spans: number) => void;
  readonly onSent: () => void;
}

export interface AbandonableExporter extends SpanExporter {
  /** From now on each batch is sent once: what fails is lost. */
  hurry(): void;
  /** Ends whatever is under way. */
  abandon(): void;
}

/** Of one try. Source: the default of OTEL_EXPORTER_OTLP_TIMEOUT. */
const TIMEOUT_MS = 10_000;
/** Waits before a batch is sent again: a collector that restarts is away for about as long. */
const WAITS_MS = [1000, 2000, 4000];
/** Statuses that may pass. Source: OTLP/HTTP, Retryable Response Codes. */
const PASSING = [429, 502, 503, 504];

/** Returns the exporter. */
export function makeSpanExporter({ url, headers, onLost, onSent }: ExporterOptions): AbandonableExporter {
  const over = new AbortController();
  const hurry = new AbortController();
  const underWay = new Set<Promise<void>>();
  const dispatcher = new Agent();

  /** Returns why the batch is lost; null where the collector has it. */
  async function send(body: Uint8Array<ArrayBuffer>): Promise<string | null> {
    for (let attempt = 0; ; attempt += 1) {
      const { problem, mayPass } = await trySend(body);
      const waitMs = WAITS_MS[attempt];
      if (problem === null || !mayPass || waitMs === undefined || hurry.signal.aborted) return problem;
      await sleep(waitMs, undefined, { signal: hurry.signal, ref: false }).catch(() => undefined);
    }
  }

  async function trySend(
    body: Uint8Array<ArrayBuffer>,
  ): Promise<{ problem: string | null; mayPass: boolean }> {
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        dispatcher,
        signal: AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      const text = await answer.body.text();
      const { statusCode: status } = answer;
      if (status >= 300) return { problem: `HTTP status ${status}`, mayPass: PASSING.includes(status) };
      return { problem: findRefusal(text), mayPass: false };
    } catch (error) {
      return { problem: describeFailure(error), mayPass: true };
    }
  }

  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void) {
      const serialized = JsonTraceSerializer.serializeRequest(spans);
      if (serialized === undefined) return done({ code: ExportResultCode.FAILED });
      const sending = send(Uint8Array.from(serialized)).then((problem) => {
        underWay.delete(sending);
        if (problem === null) onSent();
        else onLost(problem, spans.length);
        done({ code: problem === null ? ExportResultCode.SUCCESS : ExportResultCode.FAILED });
      });
      underWay.add(sending);
    },
    async shutdown() {
      await Promise.all(underWay);
      await dispatcher.destroy();
    },
    hurry: () => hurry.abort(),
    abandon: () => {
      hurry.abort();
      over.abort();
    },
  };
}

// A collector may answer 200 and say that it refused some.
function findRefusal(text: string): string | null {
  let refused: unknown;
  try {
    refused = JSON.parse(text).partialSuccess?.rejectedSpans;
  } catch {
    // No JSON, or nothing: it has them.
  }
  return Number(refused ?? 0) > 0 ? 'the collector refused some of them' : null;
}

// The error's message may hold the address with whatever is in it.
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'abandoned';
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  if (error.name === 'AbortError') return 'no answer in time';
  return errorCode(error) || 'no connection';
}
