// Traces from their start to their end, where the configuration asks for them. The only way to the files that import
// OpenTelemetry: it is imported itself only where it is needed.

import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../config/tracing.ts';
import { readVersion } from '../package.ts';
import { makeTracer } from './make-tracer.ts';
import { useTracer } from './span.ts';
import { makeSpanExporter } from './span-exporter.ts';

export interface Tracing {
  /** Sends what is left, within the bound, and ends all traces. */
  stop(): Promise<void>;
}

/** How long the end of a command may wait for the collector. */
const LONGEST_FLUSH_MS = 2000;
/**
 * Spans that wait to be sent; beyond it, they are dropped. A sync of a fast program makes some hundred a second, and
 * they are sent every few seconds: the default of 2048 would drop some. Takes about 1 KB of memory each.
 */
const MOST_WAITING = 8192;
/** Between two batches: half of the default, since a killed process loses what waits. */
const SEND_EVERY_MS = 2500;

export interface LostSpans {
  /** A code or a status, never what a server wrote. */
  readonly reason: string;
  readonly spans: number;
}

/**
 * Has this process traced. A collector that is away costs one call of `onLost` until it is there again, and nothing
 * else: the work waits for no span.
 */
export function startTracing(
  { onLost }: { onLost: (lost: LostSpans) => void },
  settings: TracingSettings,
): Tracing {
  let isKnown = false;
  const exporter = makeSpanExporter({
    url: settings.url,
    headers: settings.headers,
    onLost: (reason, spans) => {
      if (!isKnown) onLost({ reason, spans });
      isKnown = true;
    },
    onSent: () => {
      isKnown = false;
    },
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.version': readVersion(), ...settings.resource }),
    ),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MOST_WAITING,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  });
  useTracer(makeTracer(provider.getTracer('affiliate-mirror')));
  return {
    async stop() {
      useTracer(null);
      exporter.hurry();
      const timer = setTimeout(exporter.abandon, LONGEST_FLUSH_MS);
      // What it rejects with was warned of already.
      await provider.shutdown().catch(() => undefined);
      clearTimeout(timer);
    },
  };
}
