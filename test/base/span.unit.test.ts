// What the steps of a trace do where nothing is traced, and what they are to OpenTelemetry where something is.

import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';
import { ApiUnreachable } from '../../src/base/errors.ts';
import { beginSpan, describeTrace, inSpan, inTrace, useTracer } from '../../src/base/span.ts';
import { makeTracer } from '../../src/observe/tracing/make-tracer.ts';

function trace(): () => { name: string; parent: string | undefined; attributes: object }[] {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  useTracer(makeTracer(provider.getTracer('test')));
  onTestFinished(() => useTracer(null));
  return () => {
    const spans = exporter.getFinishedSpans();
    const nameOf = (id: string | undefined) =>
      spans.find((span) => span.spanContext().spanId === id)?.name ?? id;
    return spans.map(({ name, parentSpanContext, attributes }) => ({
      name,
      parent: nameOf(parentSpanContext?.spanId),
      attributes,
    }));
  };
}

const PLAIN = { attributes: {} };

test('without a tracer, work is done all the same, and no line names a trace', async () => {
  const seen = await inTrace('a', PLAIN, (span) =>
    inSpan('b', PLAIN, async (inner) => {
      beginSpan('c')();
      inner.set({ rows: 1 });
      inner.fail('x');
      return [span.reference, inner.reference, describeTrace()];
    }),
  );
  expect(seen).toEqual([null, null, {}]);
});

test('outside of a trace a step is none, and a trace begins where one may', async () => {
  const spans = trace();
  await inSpan('alone', PLAIN, async () => undefined);
  beginSpan('alone')();
  await inTrace('first', PLAIN, () => inSpan('second', PLAIN, async () => beginSpan('third')()));
  expect(spans().map(({ name, parent }) => [name, parent])).toEqual([
    ['third', 'second'],
    ['second', 'first'],
    ['first', undefined],
  ]);
});

test('a step with a cause goes on inside it in another process, and one with nonsense begins anew', async () => {
  const spans = trace();
  const cause = await inTrace('tick', PLAIN, async ({ reference }) => reference);
  await inTrace('job', { ...PLAIN, cause }, async () => undefined);
  await inTrace('odd', { ...PLAIN, cause: '00-nonsense' }, async () => undefined);
  expect(spans().map(({ name, parent }) => [name, parent])).toEqual([
    ['tick', undefined],
    ['job', 'tick'],
    ['odd', undefined],
  ]);
});

test.each([
  [new ApiUnreachable('ada@example.com did not answer'), 'API_UNREACHABLE'],
  [Object.assign(new Error('Key (email)=(ada@example.com)'), { code: '23505' }), '23505'],
  [Object.assign(new Error('x'), { code: 'ada@example.com' }), 'Error'],
  [new TypeError('ada@example.com'), 'TypeError'],
  ['ada@example.com stopped it', 'ABORTED'],
])('a step that fails with %o keeps a code, and is thrown on', async (error, code) => {
  const spans = trace();
  await expect(inTrace('run', PLAIN, () => Promise.reject(error))).rejects.toBe(error);
  expect(spans()).toEqual([{ name: 'run', parent: undefined, attributes: { 'error.type': code } }]);
});
