// How many jobs a worker does at once, and how many of them may be less important than a payment.
//
// Priorities order the jobs that wait, and no job yields its slot: a hundred full syncs that begin at two o'clock would
// hold up every payment and delta for hours. So some slots are for payments alone, and others not for full syncs. A run
// waits nearly all of its time for its own budget: slots are cheap.

import { PRIORITY } from './job-source.ts';

/** With one program: more than the subjects that may be due at once. The pool and the budget bound the rest. */
const LEAST_SLOTS = 20;
const FOR_PAYMENTS = 4;
/** Retention and exports find room beside a full sync of every program. */
const FOR_UPKEEP = 10;

export interface Slots {
  readonly total: number;
  /** How many jobs of this priority and of those that matter less may run at once. */
  most(priority: number): number;
}

/** Returns the slots of a worker that serves so many programs, `mostJobs` at most. */
export function countSlots(programs: number, mostJobs: number): Slots {
  const total = Math.min(mostJobs, Math.max(LEAST_SLOTS, 2 * programs + FOR_PAYMENTS));
  const beforePayments = Math.max(1, total - FOR_PAYMENTS);
  const slow = Math.min(beforePayments, Math.max(LEAST_SLOTS - FOR_PAYMENTS, programs + FOR_UPKEEP));
  return {
    total,
    most(priority) {
      if (priority <= PRIORITY.payments) return total;
      return priority < PRIORITY.fullSyncs ? beforePayments : slow;
    },
  };
}
