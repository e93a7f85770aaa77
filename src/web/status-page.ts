// The interface of server.ts.

import type { FastifyInstance } from 'fastify';
import type { Logger } from '../base/log.ts';
import type { ProcessConfig } from '../config/config.ts';
import type { ProgramFigures } from '../reports/program-summary.ts';
import type { Checks } from './health.ts';
import type { View, ViewDeps } from './view.ts';

export interface StatusPageDeps {
  readonly log: Logger;
  readonly checks: Checks;
  /** Called for each request: one without a name, or those of PROGRAMS_FILE as they are served now, in any order. */
  readonly programs: () => readonly PageProgram[];
  /** Why PROGRAMS_FILE, as it is by now, was refused; none if it was not. */
  readonly fileProblems: () => readonly string[];
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

/** A program of the status page. Its views read its database; the list of programs reads what is here alone. */
export interface PageProgram {
  /** Null for the one that the environment describes: its views are at /, those of a listed one at /p/NAME/. */
  readonly name: string | null;
  readonly viewDeps: ViewDeps;
  readonly condition: ProgramCondition;
  /** Returns what the worker last read of it; null if nothing yet. Called for the list of programs alone. */
  readonly readFigures: () => ProgramFigures | null;
}

export type ProgramCondition =
  | { readonly state: 'starting' | 'serving' }
  /** The reason is shown to every viewer: it names no host and no person. Without a full stop. */
  | { readonly state: 'paused'; readonly reason: string };

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

export type StatusPageOptions = ProcessConfig['status'];

export interface StatusPage {
  /** With the base path, without a final slash. */
  readonly url: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}
