// A program as metrics and alerts take it: one that the environment describes has no name, and is named nowhere.

import type { Logger } from '../base/log.ts';
import type { RateLimit } from '../config/program/rate-limit.ts';
import type { GrowthDeps } from '../reports/read-growth.ts';
import type { MirrorHealth } from '../reports/read-health.ts';
import { REST_MS, type Recorder } from './metrics/recorder.ts';

/** A program keeps its value, and so its handle, for as long as its description is unchanged. */
export interface ObservedProgram extends GrowthDeps {
  /** Null if the environment describes it. */
  readonly name: string | null;
  /** Names the program if it is listed. */
  readonly log: Logger;
  readonly rateLimit: RateLimit;
  /** What this process counted for the program. */
  readonly recorder: Recorder;
  /** If paused: the stable code of the reason. */
  readonly state: () => 'starting' | 'serving' | { readonly paused: string };
}

/** Returns whether the program had no request of this process and no run of any for ten minutes. */
export function isAtRest(recorder: Recorder, health: MirrorHealth | null): boolean {
  if (recorder.idleMs() < REST_MS) return false;
  return !health?.resources.some(
    ({ last_run_state, last_run_finished_at }) =>
      last_run_state === 'running' ||
      (last_run_finished_at !== null && Date.now() - Date.parse(last_run_finished_at) < REST_MS),
  );
}
