// Serves views in their frame, and a message in the same frame if a view fails.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorCode } from '../base/describe-error.ts';
import type { Logger } from '../base/log.ts';
import { NoAnswer, within } from '../base/within.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { readNow } from '../db/clock.ts';
import { addressOf } from './base-path.ts';
import { describeFailure, describeReason, type Failure, NOT_FOUND } from './failures.ts';
import { html } from './html.ts';
import { type Frame, renderFrame } from './layout.ts';
import type { View, ViewDeps } from './view.ts';

export interface ViewRoutesDeps {
  readonly log: Logger;
  readonly viewDeps: ViewDeps;
}

export interface ViewRoutesOptions {
  readonly basePath: string;
  readonly mirrorSchema: string;
  readonly canShowPeople: boolean;
  readonly navigation: Frame['navigation'];
}

/** A view uses one connection at a time; the worker has eight. */
const VIEWS_AT_ONCE = 2;

const VIEW_TIMEOUT_MS = 20_000;

/** Adds a route for each view, and the answer to unknown paths. */
export function addViews(
  site: FastifyInstance,
  deps: ViewRoutesDeps,
  views: readonly View[],
  options: ViewRoutesOptions,
): void {
  const limit = makeLimit(VIEWS_AT_ONCE, VIEW_TIMEOUT_MS);
  for (const view of views) {
    site.get(view.path, (request, reply) =>
      answerView(view, { request, reply }, { ...deps, limit }, options),
    );
  }
  site.setNotFoundHandler((request, reply) =>
    sendFailure(reply, NOT_FOUND, frameOf(request, options, { here: null, now: null })),
  );
  site.setErrorHandler((error, request, reply) => {
    deps.log.error({ code: errorCode(error), reason: describeReason(error) }, 'status.failed');
    return sendFailure(reply, describeFailure(error), frameOf(request, options, { here: null, now: null }));
  });
}

export function sendFailure(reply: FastifyReply, failure: Failure, frame: Frame): FastifyReply {
  const { status, title, text, headers = {} } = failure;
  // By this attribute, the script of an open view tries again.
  const body = html`<section class="verdict ${status === 503 ? 'warn' : 'bad'}"${status === 503 && html` data-again`}>
<h1>${title}</h1>
<p>${text}</p>
</section>`;
  return send(reply.code(status).headers(headers), renderFrame(frame, { title, body }));
}

/** Returns the frame of a refusal: it shows neither the schema nor the navigation. */
export function outerFrame(basePath: string): Frame {
  const href = (path: string) => addressOf(basePath, path);
  return { schema: null, href, navigation: [], here: null, people: 'never', now: null };
}

async function answerView(
  view: View,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { log, viewDeps, limit }: ViewRoutesDeps & { limit: Limit },
  options: ViewRoutesOptions,
): Promise<FastifyReply> {
  const here = request.url;
  try {
    const reading = limit(async () => ({
      content: await view.read(viewDeps, viewRequestOf(request, options.basePath)),
      now: await readNow(viewDeps.db),
    }));
    const { content, now } = await within(VIEW_TIMEOUT_MS, reading);
    const frame = frameOf(request, options, { here, now });
    return send(reply.code(content.status ?? 200), renderFrame(frame, content));
  } catch (error) {
    const reason = describeReason(error);
    log.warn({ view: view.path, code: errorCode(error), reason }, 'status.view_failed');
    return sendFailure(reply, describeFailure(error), frameOf(request, options, { here, now: null }));
  }
}

function viewRequestOf(request: FastifyRequest, basePath: string) {
  return {
    params: request.params as Readonly<Record<string, string>>,
    query: Object.fromEntries(new URLSearchParams(request.url.split(/\?(.*)/s)[1])),
    mayReadPeople: request.right === 'people',
    href: (path: string) => addressOf(basePath, path),
  };
}

function frameOf(
  request: FastifyRequest,
  { basePath, mirrorSchema, canShowPeople, navigation }: ViewRoutesOptions,
  { here, now }: { here: string | null; now: Timestamp | null },
): Frame {
  const people = request.right === 'people' ? 'shown' : canShowPeople ? 'hidden' : 'never';
  return {
    schema: mirrorSchema,
    href: (path) => addressOf(basePath, path),
    navigation,
    here,
    people,
    now,
  };
}

function send(reply: FastifyReply, document: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(document);
}

/** Throws: NoAnswer if the work could not begin in time. */
type Limit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `most` at once, the others in their order, so that the worker keeps its connections however many views
 * are open. Work that waited for `patienceMs` is dropped: its browser was answered already, and reading the view would
 * delay the others.
 */
export function makeLimit(most: number, patienceMs: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    const beganMs = performance.now();
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      if (performance.now() - beganMs >= patienceMs) throw new NoAnswer(`not begun within ${patienceMs} ms`);
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
