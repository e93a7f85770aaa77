// A program of this worker, as its status page, its metrics and its alerts take it: also while it is not served.

import type { Recorder } from '../../observe/metrics/recorder.ts';
import type { Program } from '../program.ts';

export type Condition =
  | { readonly state: 'starting' | 'serving' }
  /** Tried again by itself. `code` is the error's stable code; `reason` names no host and no person. */
  | { readonly state: 'paused'; readonly code: string; readonly reason: string };

export interface WorkingProgram {
  readonly program: Program;
  /** What this process counts for it. */
  readonly recorder: Recorder;
  readonly condition: () => Condition;
}
