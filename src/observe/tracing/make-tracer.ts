// The steps of base/span.ts as spans of OpenTelemetry.

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type Tracer as SpanStarter,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { errorCode } from '../../base/describe-error.ts';
import type { OpenSpan, SpanStart, Tracer } from '../../base/span.ts';

/**
 * The current step is in an AsyncLocalStorage of its own, not in OpenTelemetry's global one: no library of the process
 * may add spans that were not checked for personal data.
 */
export function makeTracer(starter: SpanStarter): Tracer {
  const underWay = new AsyncLocalStorage<Span>();

  function begin(name: string, { attributes, isRequest, cause, links = [] }: SpanStart): OpenSpan {
    const parent = underWay.getStore()?.spanContext() ?? readReference(cause);
    const span = starter.startSpan(
      name,
      { attributes, kind: isRequest ? SpanKind.CLIENT : SpanKind.INTERNAL, links: links.flatMap(toLink) },
      parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
    );
    const fail = (code: string) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', code);
    };
    return {
      set(more) {
        for (const [key, value] of Object.entries(more)) {
          if (value !== undefined) span.setAttribute(key, value);
        }
      },
      fail,
      failWith: (error) => fail(codeOf(error)),
      reference: writeReference(span.spanContext()),
      run: (work) => underWay.run(span, work),
      end: () => span.end(),
    };
  }

  return { begin, active: () => underWay.getStore()?.spanContext() ?? null };
}

/** Source: W3C Trace Context, version 00. */
function writeReference({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

// A reference in the form of another version begins a new trace.
function readReference(reference: string | null | undefined): SpanContext | null {
  const context = typeof reference === 'string' ? parseTraceParent(reference) : null;
  return context === null ? null : { ...context, isRemote: true };
}

function toLink(reference: string | null): Link[] {
  const context = readReference(reference);
  return context === null ? [] : [{ context }];
}

/** Any other text may be about a person. */
const CODE = /^[A-Za-z0-9_]{1,60}$/;

function codeOf(error: unknown): string {
  // The reason of an aborted signal may be a sentence.
  if (!(error instanceof Error)) return 'ABORTED';
  return [errorCode(error), error.name].find((code) => CODE.test(code)) ?? 'Error';
}
