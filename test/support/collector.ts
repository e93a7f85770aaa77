// A collector of traces, as OTLP over HTTP in JSON, that keeps what it is sent. Closed with the test file.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterFile } from './after-file.ts';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first span of a trace. */
  readonly parentId: string | null;
  /** The spans that it works on. */
  readonly linkedIds: readonly string[];
  readonly isFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of its process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that was sent, as it came. */
  readonly bodies: readonly string[];
  readonly received: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
}

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Returns a running collector. `answer` says what it answers: a status, or `silence` for
 * nothing ever.
 */
export async function startCollector(answer: () => number | 'silence' = () => 200): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const received: Collector['received'][number][] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    bodies.push(body);
    received.push({ path: request.url ?? '', headers: request.headers });
    const said = answer();
    if (said === 'silence') return;
    if (said === 200) spans.push(...readSpans(body));
    response.writeHead(said, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, bodies, received };
}

function readSpans(body: string): CollectedSpan[] {
  const read: CollectedSpan[] = [];
  for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
    for (const span of scopeSpans.flatMap((scope: { spans: unknown[] }) => scope.spans)) {
      read.push({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: span.parentSpanId ?? null,
        linkedIds: (span.links ?? []).map((link: { spanId: string }) => link.spanId),
        isFailed: span.status?.code === 2,
        attributes: readPairs(span.attributes),
        resource: readPairs(resource.attributes),
      });
    }
  }
  return read;
}

function readPairs(pairs: readonly Pair[] = []): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}
