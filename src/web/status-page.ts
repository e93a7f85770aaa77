// The interface of server.ts.

import type { FastifyInstance } from 'fastify';
import type { Logger } from '../base/log.ts';
import type { ProcessConfig } from '../config/config.ts';
import type { Checks } from './health.ts';
import type { View, ViewDeps } from './view.ts';

export interface StatusPageDeps {
  readonly log: Logger;
  readonly checks: Checks;
  readonly viewDeps: ViewDeps;
  /** Called at the first request for a view, so that its imports cost nothing before. */
  readonly loadViews: () => Promise<readonly View[]>;
  /**
   * The answer of /metrics, read for each request, or of /metrics?program=NAME, null if there is no such program; null
   * if there are no metrics.
   */
  readonly readMetrics: ((program?: string) => Promise<Metrics | null>) | null;
  /** Makes the board of the queue, below /queue, at the first request for it; null if there is no queue. */
  readonly registerBoard: RegisterBoard | null;
}

export interface Metrics {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Registers the board's routes, relative to the board, on a server of its own. Access was checked, and the methods are
 * GET and HEAD. `basePath` is the board's address as the browser sees it, such as /affiliates/queue.
 */
export type RegisterBoard = (
  scope: FastifyInstance,
  options: { readonly basePath: string },
) => Promise<void> | void;

export type StatusPageOptions = ProcessConfig['status'] & { readonly mirrorSchema: string };

export interface StatusPage {
  /** With the base path, without a final slash. */
  readonly url: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}
