// Serves views in their frame, and a message in the same frame if a view fails.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorCode } from '../base/describe-error.ts';
import type { Logger } from '../base/log.ts';
import { NoAnswer, within } from '../base/within.ts';
import { readNow } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { addressOf, rootOf } from './base-path.ts';
import { describeFailure, describeReason, type Failure, NO_PROGRAM, NOT_FOUND } from './failures.ts';
import type { FindProgram } from './find-program.ts';
import type { FrameOf, FramesOptions } from './frames.ts';
import { type Html, html } from './html.ts';
import { type Frame, renderFrame } from './layout.ts';
import { readQuery } from './query.ts';
import type { PageProgram } from './status-page.ts';
import type { View } from './view.ts';

export interface ViewRoutesDeps {
  readonly log: Logger;
  readonly find: FindProgram;
  readonly frameOf: FrameOf;
}

/** A view uses one connection at a time; the worker has eight. */
const VIEWS_AT_ONCE = 2;

const VIEW_TIMEOUT_MS = 20_000;

/** One of several programs: if its database does not answer, the others' views are read all the same. */
const VIEWS_AT_ONCE_OF_MANY = 1;

/** Adds a route for each view, and the answer to unknown paths. */
export function addViews(
  site: FastifyInstance,
  deps: ViewRoutesDeps,
  { views, isListed, basePath }: Pick<FramesOptions, 'views' | 'isListed' | 'basePath'>,
): void {
  const { log, find, frameOf } = deps;
  const limit = makeLimits(isListed);
  const root = isListed ? '/p/:program' : '';
  for (const view of views) {
    site.get(`${root}${view.path}`, (request, reply) => {
      const program = find(request);
      return program === null
        ? fail(request, reply, NO_PROGRAM)
        : answerView({ view, program }, { request, reply }, { ...deps, limit }, basePath);
    });
  }
  site.setNotFoundHandler((request, reply) => fail(request, reply, NOT_FOUND));
  site.setErrorHandler((error, request, reply) => {
    log.error({ code: errorCode(error), reason: describeReason(error) }, 'status.failed');
    return fail(request, reply, describeFailure(error));
  });

  function fail(request: FastifyRequest, reply: FastifyReply, failure: Failure): FastifyReply {
    return sendFailure(reply, failure, frameOf(request, { program: find(request), here: null, now: null }));
  }
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

export function send(reply: FastifyReply, document: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(document);
}

async function answerView(
  { view, program }: { view: View; program: PageProgram },
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { log, frameOf, limit }: ViewRoutesDeps & { limit: ProgramLimit },
  basePath: string,
): Promise<FastifyReply> {
  const here = request.url;
  const { viewDeps } = program;
  try {
    const reading = limit(viewDeps.db, async () => ({
      content: await view.read(viewDeps, viewRequestOf(request, program, basePath)),
      now: await readNow(viewDeps.db),
    }));
    const { content, now } = await within(VIEW_TIMEOUT_MS, reading);
    const { title, body, status = 200 } = content;
    const frame = frameOf(request, { program, here, now });
    return send(reply.code(status), renderFrame(frame, { title, body: html`${showPause(program)}${body}` }));
  } catch (error) {
    const reason = describeReason(error);
    const named = program.name === null ? {} : { program: program.name };
    log.warn({ ...named, view: view.path, code: errorCode(error), reason }, 'status.view_failed');
    return sendFailure(reply, describeFailure(error), frameOf(request, { program, here, now: null }));
  }
}

function viewRequestOf(request: FastifyRequest, { name }: PageProgram, basePath: string) {
  return {
    params: request.params as Readonly<Record<string, string>>,
    query: readQuery(request.url),
    mayReadPeople: request.right === 'people',
    href: (path: string) => addressOf(basePath, `${rootOf(name)}${path}`),
    program: name,
  };
}

function showPause({ condition }: PageProgram): Html | null {
  if (condition.state !== 'paused') return null;
  return html`<section class="verdict bad" role="status">
<p><strong>Paused</strong>: ${condition.reason}. The worker tries again by itself.</p>
</section>
`;
}

/** Throws: NoAnswer if the work could not begin in time. */
type Limit = <T>(work: () => Promise<T>) => Promise<T>;

type ProgramLimit = <T>(db: Database, work: () => Promise<T>) => Promise<T>;

/** Bounds the views that are read at once, of each program and in all. */
function makeLimits(isListed: boolean): ProgramLimit {
  const inAll = makeLimit(VIEWS_AT_ONCE, VIEW_TIMEOUT_MS);
  if (!isListed) return (_db, work) => inAll(work);
  const limits = new WeakMap<Database, Limit>();
  return (db, work) => {
    const ofProgram = limits.get(db) ?? makeLimit(VIEWS_AT_ONCE_OF_MANY, VIEW_TIMEOUT_MS);
    limits.set(db, ofProgram);
    return ofProgram(() => inAll(work));
  };
}

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
