// How spans are sent: once, not for longer than a process that ends can wait, and with no reason that quotes a server.

import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';
import { type AbandonableExporter, makeSpanExporter } from '../../../src/observe/tracing/span-exporter.ts';
import { startCollector } from '../../support/collector.ts';

function makeTraced(url: string): {
  exporter: AbandonableExporter;
  lost: string[];
  provider: TracerProvider;
  span: (name: string) => void;
} {
  const lost: string[] = [];
  const onLost = (reason: string, spans: number) => lost.push(`${spans}: ${reason}`);
  const exporter = makeSpanExporter({ url, headers: {}, onLost, onSent: () => {} });
  onTestFinished(exporter.abandon);
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const span = (name: string) => provider.getTracer('test').startSpan(name).end();
  return { exporter, lost, provider, span };
}

test.each([401, 503, 307])(
  'a batch that the collector answers with %i is lost, and sent once',
  async (status) => {
    const collector = await startCollector(() => status);
    const { lost, span } = makeTraced(collector.url);
    span('refused');
    await expect.poll(() => lost).toEqual([`1: HTTP status ${status}`]);
    expect(collector.received).toHaveLength(1);
  },
);

test('what is under way is abandoned, and its wait ends', async () => {
  const collector = await startCollector(() => 'silence');
  const { exporter, lost, provider, span } = makeTraced(collector.url);
  span('silenced');
  await expect.poll(() => collector.received.length).toBe(1);
  const stopped = provider.shutdown();
  exporter.abandon();
  await stopped;
  expect(lost).toEqual(['1: does not answer in time (ETIMEDOUT)']);
});
