// While the API is down, the writer sends one request at a time, after waits that double.

import { sleep } from '../../base/sleep.ts';

const LONGEST_WAIT_MS = 60_000;

export type Outage = ReturnType<typeof makeOutage>;

/**
 * Returns no outage. `firstWaitMs` is the longest that the first wait of one may be; half of each is left to chance.
 */
export function makeOutage(firstWaitMs: number) {
  let isOn = false;
  let waits = 0;
  return {
    /** Returns whether the API is known to be down, so that `wait` comes before the next request. */
    isOn: () => isOn,
    begin(): void {
      isOn = true;
    },
    /** Call when the API has answered. */
    end(): void {
      isOn = false;
      waits = 0;
    },
    /** Waits until one request may be sent; only its answer ends the outage. Throws: the signal's reason. */
    async wait(signal: AbortSignal): Promise<void> {
      const ceiling = Math.min(LONGEST_WAIT_MS, firstWaitMs * 2 ** waits);
      waits += 1;
      isOn = false;
      await sleep(ceiling / 2 + (Math.random() * ceiling) / 2, signal);
    },
  };
}
