// What the status page is made of, and what it is given: the interface of server.ts.

import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Logger } from '../log.ts';
import type { Page, PageDeps } from './page.ts';
import type { Checks } from './readiness.ts';

export interface StatusPageDeps {
  readonly log: Logger;
  readonly checks: Checks;
  /** What pages read from; null while the process starts. */
  readonly pageDeps: () => PageDeps | null;
  /** Called at the first request for a page: what it imports costs nothing where nobody looks. */
  readonly loadPages: () => Promise<readonly Page[]>;
  /** What /metrics answers; null where there are none. Called for each request: imports what it needs itself. */
  readonly readMetrics: (() => Promise<Metrics>) | null;
  /** Makes the board of the queue, below /queue, at the first request for it; null where there is no queue. */
  readonly registerBoard: RegisterBoard | null;
}

export interface Metrics {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Registers the board's routes, relative to the board, on a server that has nothing else. The door has been passed, and
 * the methods are GET and HEAD. `basePath` is the board's own address as the browser sees it, such as
 * /affiliates/queue.
 */
export type RegisterBoard = (
  scope: FastifyInstance,
  options: { readonly basePath: string },
) => Promise<void> | void;

export type StatusPageOptions = Config['status'] & { readonly mirrorSchema: string };

export interface StatusPage {
  /** Without a final slash, and with the path that the page is served below. */
  readonly url: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}
