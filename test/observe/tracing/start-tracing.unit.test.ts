// Traces from their start to their end: what is said of spans that are lost.

import { expect, test } from 'vitest';
import { inTrace } from '../../../src/base/span.ts';
import { type LostSpans, startTracing } from '../../../src/observe/tracing/start-tracing.ts';
import { startCollector } from '../../support/collector.ts';

/** What is sent at once, without a wait for more. Source: OpenTelemetry, maxExportBatchSize. */
const BATCH = 512;

test('a collector that is away is spoken of once, and once more where it went away again', async () => {
  const answers = [401, 401, 200, 401];
  const collector = await startCollector(() => answers.shift() ?? 200);
  const lost: LostSpans[] = [];
  const settings = { url: collector.url, headers: {}, resource: {} };
  const tracing = startTracing({ onLost: (one) => lost.push(one) }, settings);
  const steps = Array.from({ length: answers.length * BATCH }, () => 'step');
  for (const name of steps) await inTrace(name, { attributes: {} }, async () => undefined);
  await expect.poll(() => lost).toHaveLength(2);
  await tracing.stop();
  expect(collector.received).toHaveLength(4);
  expect(lost).toEqual(Array.from({ length: 2 }, () => ({ reason: 'HTTP status 401', spans: BATCH })));
});
