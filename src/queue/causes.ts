// Which trace the next job of a duty belongs to. A tick of a schedule has a worker look, the look makes a job, and when
// it has ended the next look makes another one: all of them are work of that tick. Kept in memory, and with each job:
// what is lost with a process is only that a trace begins at a job. bullmq-otel was tried for it, on both queues: it
// puts all ticks of a schedule into one trace that never ends, makes five spans of each, and keeps the messages of
// errors.

import type { Duty } from './duty.ts';

export interface Causes {
  /** Notes the step that handled a tick. */
  noteTick(schedule: string, reference: string | null): void;
  /** Notes what a job that starts was caused by: what is due of its duty after it is due for the same reason. */
  noteStarted(duty: string, reference: string | null): void;
  /** Returns what the next job of the duty is caused by; null where nobody knows. */
  of(duty: string): string | null;
  /** Forgets the cause, unless it is another one by now: nothing is due any more. */
  forget(duty: string, reference: string | null): void;
}

/** Returns the causes, none at first. */
export function makeCauses(duties: readonly Pick<Duty, 'name' | 'alarms'>[]): Causes {
  const byDuty = new Map<string, string>();
  const note = (duty: string, reference: string | null) => {
    if (reference !== null) byDuty.set(duty, reference);
  };
  return {
    noteTick(schedule, reference) {
      for (const { name, alarms } of duties) {
        if (alarms.some((alarm) => alarm.name === schedule)) note(name, reference);
      }
    },
    noteStarted: note,
    of: (duty) => byDuty.get(duty) ?? null,
    forget(duty, reference) {
      if (byDuty.get(duty) === reference) byDuty.delete(duty);
    },
  };
}
