// Decides which request gets which fault, from the plan and the order of requests. deliver.ts carries it out.

import type { ExactFault, FaultKind, FaultPlan } from './fault-plan.ts';
import { makeRandomness } from './randomness.ts';

export type ChooseFault = (method: string, path: string) => FaultKind | null;

/** Returns a function that spoils the same requests of a sequence whenever plan and seed are the same. */
export function makeChooseFault(plan: FaultPlan, seed: number): ChooseFault {
  const randomness = makeRandomness(seed);
  const demands = plan.exact.map((fault) => ({ fault, seen: 0 }));
  const shares = Object.entries(plan.shares) as [FaultKind, number][];

  return (method, path) => {
    // Drawn for every request, so that an exact fault does not shift which ones the shares spoil.
    let draw = randomness.next();
    let demanded: FaultKind | null = null;
    for (const demand of demands) {
      if (!matches(demand.fault, method, path)) continue;
      const { kind, after = 0, times = 1 } = demand.fault;
      const isDue = demand.seen >= after && demand.seen < after + times;
      // A request that another demand already spoils does not use this one up.
      if (isDue && demanded !== null) continue;
      demand.seen += 1;
      if (isDue) demanded = kind;
    }
    if (demanded !== null) return demanded;
    for (const [kind, share] of shares) {
      if (draw < share) return kind;
      draw -= share;
    }
    return null;
  };
}

function matches(fault: ExactFault, method: string, path: string): boolean {
  if (fault.method !== undefined && fault.method !== method) return false;
  return fault.route === undefined || path === fault.route || path.startsWith(`${fault.route}/`);
}
