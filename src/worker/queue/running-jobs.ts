// The jobs that a worker does at this moment, with their slots and the programs that they are of.

import type { ProcessJob } from './process-job.ts';
import { programOf } from './queued-name.ts';
import type { Slots } from './slots.ts';

export interface RunningJobs {
  /** Returns the processor that also notes its jobs. */
  noting(processJob: ProcessJob): ProcessJob;
  /** Whether the job that just began has a slot for its priority. */
  hasSlot(priority: number): boolean;
  /** Resolves once no job of the program runs; `cancel` is called with the identifier of each. */
  end(program: string | null, cancel: (id: string) => void): Promise<void>;
}

export function makeRunningJobs(readSlots: () => Slots): RunningJobs {
  const running = new Map<string, { readonly program: string | null; readonly ended: Promise<void> }>();
  return {
    // Three parameters: BullMQ passes a signal only then.
    noting: (processJob) => async (job, token, signal) => {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const id = job.id ?? '';
      running.set(id, { program: programOf(job.name), ended });
      try {
        await processJob(job, token, signal);
      } finally {
        running.delete(id);
        resolve();
      }
    },
    hasSlot: (priority) => running.size <= readSlots().most(priority),
    async end(program, cancel) {
      const ending = [...running].filter(([, job]) => job.program === program);
      for (const [id] of ending) cancel(id);
      await Promise.all(ending.map(([, { ended }]) => ended));
    },
  };
}
