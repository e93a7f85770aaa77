// Serves pages in their frame, and what is shown instead where one cannot be.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Timestamp } from '../contract/timestamp.ts';
import { readNow } from '../db/clock.ts';
import { errorCode } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { within } from '../within.ts';
import { addressOf } from './base-path.ts';
import { describeFailure, describeReason, type Failure, NOT_FOUND, STARTING } from './failures.ts';
import { type Gate, makeGate } from './gate.ts';
import { html } from './html.ts';
import { type Frame, renderFrame } from './layout.ts';
import type { Page, PageDeps } from './page.ts';

export interface PageRoutesDeps {
  readonly log: Logger;
  readonly pageDeps: () => PageDeps | null;
}

export interface PageRoutesOptions {
  readonly basePath: string;
  readonly mirrorSchema: string;
  /** Whether there is a password with which personal data are shown. */
  readonly canShowPeople: boolean;
  readonly navigation: Frame['navigation'];
}

/** A page uses a connection at a time; the worker has eight. */
const PAGES_AT_ONCE = 2;

/** Nobody waits longer for a page. */
const PAGE_TIMEOUT_MS = 20_000;

/** Adds a route for each page, and the answer to what none of them is. */
export function addPages(
  site: FastifyInstance,
  deps: PageRoutesDeps,
  pages: readonly Page[],
  options: PageRoutesOptions,
): void {
  const pass = makeGate(PAGES_AT_ONCE, PAGE_TIMEOUT_MS);
  for (const page of pages) {
    site.get(page.path, (request, reply) => answerPage(page, { request, reply }, { ...deps, pass }, options));
  }
  site.setNotFoundHandler((request, reply) =>
    sendFailure(reply, NOT_FOUND, frameOf(request, options, { here: null, now: null })),
  );
  site.setErrorHandler((error, request, reply) => {
    deps.log.error({ code: errorCode(error), reason: describeReason(error) }, 'status.failed');
    return sendFailure(reply, describeFailure(error), frameOf(request, options, { here: null, now: null }));
  });
}

/** Sends what is shown instead of a page. */
export function sendFailure(reply: FastifyReply, failure: Failure, frame: Frame): FastifyReply {
  const { status, title, text, headers = {} } = failure;
  // The script of an open page asks again by this mark.
  const body = html`<section class="verdict ${status === 503 ? 'warn' : 'bad'}"${status === 503 && html` data-again`}>
<h1>${title}</h1>
<p>${text}</p>
</section>`;
  return send(reply.code(status).headers(headers), renderFrame(frame, { title, body }));
}

/** Returns the frame for somebody who was not let in: it says nothing of what is behind the door. */
export function outerFrame(basePath: string): Frame {
  const href = (path: string) => addressOf(basePath, path);
  return { schema: null, href, navigation: [], here: null, people: 'never', now: null };
}

async function answerPage(
  page: Page,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { log, pageDeps, pass }: PageRoutesDeps & { pass: Gate },
  options: PageRoutesOptions,
): Promise<FastifyReply> {
  const here = request.url;
  const deps = pageDeps();
  if (deps === null) {
    return sendFailure(reply, STARTING, frameOf(request, options, { here, now: null }));
  }
  try {
    const reading = pass(async () => ({
      content: await page.read(deps, pageRequestOf(request, options.basePath)),
      now: await readNow(deps.db),
    }));
    const { content, now } = await within(PAGE_TIMEOUT_MS, reading);
    const frame = frameOf(request, options, { here, now });
    return send(reply.code(content.status ?? 200), renderFrame(frame, content));
  } catch (error) {
    const reason = describeReason(error);
    log.warn({ page: page.path, code: errorCode(error), reason }, 'status.page_failed');
    return sendFailure(reply, describeFailure(error), frameOf(request, options, { here, now: null }));
  }
}

function pageRequestOf(request: FastifyRequest, basePath: string) {
  return {
    params: request.params as Readonly<Record<string, string>>,
    query: Object.fromEntries(new URLSearchParams(request.url.split(/\?(.*)/s)[1])),
    mayReadPeople: request.right === 'people',
    href: (path: string) => addressOf(basePath, path),
  };
}

function frameOf(
  request: FastifyRequest,
  { basePath, mirrorSchema, canShowPeople, navigation }: PageRoutesOptions,
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
