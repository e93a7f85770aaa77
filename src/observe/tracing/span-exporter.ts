// Sends finished spans to a collector, as OTLP over HTTP in JSON, each batch once. OpenTelemetry's own exporter retries
// and waits, and so keeps a process alive for seconds; this one can be abandoned at once.

import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { Agent, request } from 'undici';
import { describeUnreachable, networkCode } from '../../base/describe-error.ts';

export interface ExporterOptions {
  readonly url: string;
  /** Secrets, as a rule. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called with every lost batch; the reason never quotes a server. */
  readonly onLost: (reason: string, spans: number) => void;
  readonly onSent: () => void;
}

export interface AbandonableExporter extends SpanExporter {
  /** Aborts all requests. */
  abandon(): void;
}

/** Source: the default of OTEL_EXPORTER_OTLP_TIMEOUT. */
const TIMEOUT_MS = 10_000;

export function makeSpanExporter({ url, headers, onLost, onSent }: ExporterOptions): AbandonableExporter {
  const over = new AbortController();
  const underWay = new Set<Promise<void>>();
  const dispatcher = new Agent();

  /** Returns why the batch is lost; null if the collector has it. */
  async function send(body: Uint8Array<ArrayBuffer>): Promise<string | null> {
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        dispatcher,
        signal: AbortSignal.any([over.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await answer.body.dump();
      return answer.statusCode < 300 ? null : `HTTP status ${answer.statusCode}`;
    } catch (error) {
      return describeUnreachable(networkCode(error));
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
    abandon: () => over.abort(),
  };
}
