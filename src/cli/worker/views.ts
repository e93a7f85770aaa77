// The views of a running worker: its metrics, and the board of its queue, which is loaded at its first request.

import { Busy } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { readVersion } from '../../base/package.ts';
import type { RateLimit } from '../../config/program/rate-limit.ts';
import { type MetricsText, makeMetrics } from '../../observe/metrics/make-metrics.ts';
import { makeRecorder, type Recorder } from '../../observe/metrics/recorder.ts';
import type { GrowthDeps } from '../../reports/read-growth.ts';
import type { RegisterBoard } from '../../web/status-page.ts';
import type { RunningWorker } from '../../worker/queue/start-worker.ts';

export interface WorkerViewsDeps extends GrowthDeps {
  readonly log: Logger;
  /** Null while it starts. */
  readonly worker: () => RunningWorker | null;
}

export interface WorkerViews {
  readonly recorder: Recorder;
  readonly readMetrics: () => Promise<MetricsText>;
  readonly registerBoard: RegisterBoard;
}

export function makeWorkerViews(
  { worker, log, ...deps }: WorkerViewsDeps,
  { maxAgeSeconds, rateLimit }: { readonly maxAgeSeconds: number; readonly rateLimit: RateLimit },
): WorkerViews {
  const recorder = makeRecorder();
  const running = (): RunningWorker => {
    const found = worker();
    if (found === null) throw new Busy('the worker is still starting: try again in a few seconds');
    return found;
  };
  const countJobs = async () => running().countJobs();
  const settings = { version: readVersion(), maxAgeSeconds, rateLimit };
  return {
    recorder,
    readMetrics: makeMetrics({ ...deps, log, recorder, countJobs }, settings),
    async registerBoard(scope, options) {
      const { makeBoard } = await import('../../web/board.ts');
      const { queue, checkQueue } = running();
      await makeBoard({ log, queue, checkQueue })(scope, options);
    },
  };
}
