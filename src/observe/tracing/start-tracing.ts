// Starts and stops tracing. Only this file leads to imports of OpenTelemetry, and it is imported only if tracing is
// configured.

import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { readVersion } from '../../base/package.ts';
import { useTracer } from '../../base/span.ts';
import type { TracingSettings } from '../../config/process/tracing.ts';
import { makeTracer } from './make-tracer.ts';
import { makeSpanExporter } from './span-exporter.ts';

export interface Tracing {
  /** Sends the remaining spans, within a bound, and ends all traces. */
  stop(): Promise<void>;
}

/** The longest wait for the collector at the end of a command. */
const LONGEST_FLUSH_MS = 2000;
/**
 * Further spans are dropped. A sync of a fast API makes some hundred a second: the default of 2048 would drop some.
 * Each takes about 1 KB of memory.
 */
const MOST_WAITING = 8192;
/** Half of the default, because a killed process loses its unsent spans. */
const SEND_EVERY_MS = 2500;

export interface LostSpans {
  /** Never quotes a server. */
  readonly reason: string;
  readonly spans: number;
}

/**
 * Traces this process. The work never waits for a span. While a collector is away, `onLost` is called once.
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
      const timer = setTimeout(exporter.abandon, LONGEST_FLUSH_MS);
      // Its error was reported by onLost.
      await provider.shutdown().catch(() => undefined);
      clearTimeout(timer);
    },
  };
}
