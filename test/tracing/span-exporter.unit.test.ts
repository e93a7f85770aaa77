// How spans are sent: again where that may help, not for longer than a process that ends can wait, and with no reason
// that quotes a server.

import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';
import { type AbandonableExporter, makeSpanExporter } from '../../src/tracing/span-exporter.ts';
import { startCollector } from '../support/collector.ts';

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

test('a batch is sent again where the collector is overloaded, and is lost no more', async () => {
  const answers = [503, 429, 200];
  const collector = await startCollector(() => answers.shift() ?? 200);
  const { lost, span } = makeTraced(collector.url);
  span('patient');
  await expect.poll(() => collector.spans.map(({ name }) => name)).toEqual(['patient']);
  expect(collector.received).toHaveLength(3);
  expect(lost).toEqual([]);
});

test('a batch that the collector refuses is sent once', async () => {
  const collector = await startCollector(() => 401);
  const { lost, span } = makeTraced(collector.url);
  span('refused');
  await expect.poll(() => lost).toEqual(['1: HTTP status 401']);
  expect(collector.received).toHaveLength(1);
});

test('a collector that says 200 and refuses a span has lost it', async () => {
  const collector = await startCollector(() => 'refusal');
  const { lost, span } = makeTraced(collector.url);
  span('refused');
  await expect.poll(() => lost).toEqual(['1: the collector refused some of them']);
  expect(collector.received).toHaveLength(1);
});

test('a redirect is followed nowhere', async () => {
  const collector = await startCollector(() => 307);
  const { lost, span } = makeTraced(collector.url);
  span('led away');
  await expect.poll(() => lost).toEqual(['1: HTTP status 307']);
});

test('at the end what waits to be sent again is sent at once, and then no more', async () => {
  const collector = await startCollector(() => 503);
  const { exporter, lost, provider, span } = makeTraced(collector.url);
  // That the exporter has its answer, not only that the collector sent one.
  const answered = new Promise((resolve) => subscribe('undici:request:trailers', resolve));
  span('late');
  await answered;
  await sleep(50);
  exporter.hurry();
  await provider.shutdown();
  expect(collector.received).toHaveLength(2);
  expect(lost).toEqual(['1: HTTP status 503']);
});

test('what is under way is abandoned, and its wait ends', async () => {
  const collector = await startCollector(() => 'silence');
  const { exporter, lost, provider, span } = makeTraced(collector.url);
  span('silenced');
  await expect.poll(() => collector.received.length).toBe(1);
  const stopped = provider.shutdown();
  exporter.abandon();
  await stopped;
  expect(lost).toEqual(['1: no answer in time']);
});
