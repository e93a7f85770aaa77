// What others see of a worker while it works: its metrics, and the board of its queue, which is loaded when it is first
// asked for.

import type { RateLimit } from '../../config/rate-limit.ts';
import { Busy } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { type MetricsText, makeMetrics } from '../../metrics/make-metrics.ts';
import { makeRecorder, type Recorder } from '../../metrics/recorder.ts';
import { readVersion } from '../../package.ts';
import type { RunningWorker } from '../../queue/start-worker.ts';
import type { GrowthDeps } from '../../reports/read-growth.ts';
import type { RegisterBoard } from '../../web/status-page.ts';

export interface WorkerViewsDeps extends GrowthDeps {
  readonly log: Logger;
  /** Returns null while it starts. */
  readonly worker: () => RunningWorker | null;
}

export interface WorkerViews {
  /** Counts what this process does. */
  readonly recorder: Recorder;
  readonly readMetrics: () => Promise<MetricsText>;
  readonly registerBoard: RegisterBoard;
}

/** Returns what is seen of the worker. */
export function makeWorkerViews(
  { worker, log, ...deps }: WorkerViewsDeps,
  { maxAgeSeconds, rateLimit }: { readonly maxAgeSeconds: number; readonly rateLimit: RateLimit },
): WorkerViews {
  const recorder = makeRecorder();
  const running = (): RunningWorker => {
    const found = worker();
    if (found === null) throw new Busy('the worker is still starting: look again in a few seconds');
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
