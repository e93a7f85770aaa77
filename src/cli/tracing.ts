// Traces of a command: started if the configuration asks for them, ended with the command.

import type { TraceRequest } from '../api/request-event.ts';
import type { Logger } from '../base/log.ts';
import { inSpan } from '../base/span.ts';
import type { ProcessConfig } from '../config/config.ts';
import type { Lifetime } from './lifetime.ts';

/**
 * Starts the traces, if the configuration asks for them. Call it before anything else is opened: the last spans are
 * sent after everything else is closed.
 */
export async function openTracing(
  { log, lifetime }: { log: Logger; lifetime: Lifetime },
  { tracing }: Pick<ProcessConfig, 'tracing'>,
): Promise<void> {
  if (tracing === null) return;
  const { startTracing } = await import('../observe/tracing/start-tracing.ts');
  const started = startTracing({ onLost: (lost) => log.warn(lost, 'tracing.spans_lost') }, tracing);
  lifetime.onClose(() => started.stop());
}

/** Source of the names: OpenTelemetry's semantic conventions, HTTP client spans. */
export const traceRequest: TraceRequest = ({ method, route, attempt, waitedMs }, send) => {
  const attributes = {
    'http.request.method': method,
    'url.template': route,
    attempt,
    waited_ms: waitedMs,
  };
  return inSpan('request', { attributes, isRequest: true }, (span) =>
    send((status) => {
      span.set({ 'http.response.status_code': status ?? undefined });
      if (status === null) span.fail('no_answer');
      else if (status >= 400) span.fail(String(status));
    }),
  );
};
