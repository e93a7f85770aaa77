// What a process will do by itself, as its schedules say.

import type { Timestamp } from '../contract/timestamp.ts';

export interface Upcoming {
  /** Such as: full sync. */
  readonly what: string;
  readonly at: Timestamp;
  /** The variable that says when. */
  readonly variable: string;
}
