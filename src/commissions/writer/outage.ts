// While the program is down, one request at a time asks whether it is back, after waits that double.

import { sleep } from '../../sleep.ts';

const LONGEST_WAIT_MS = 60_000;

export interface Outage {
  /** Returns whether the program is down, as far as is known: it is to be waited for before it is asked again. */
  isOn(): boolean;
  /** Call where the program is found to be down. */
  begin(): void;
  /** Call where the program has answered. */
  end(): void;
  /** Waits until the program may be asked again; only an answer ends the outage. Throws: the signal's reason. */
  wait(signal: AbortSignal): Promise<void>;
}

/**
 * Returns no outage. `firstWaitMs` is the longest that the first wait of one may be; half of each is left to chance.
 */
export function makeOutage(firstWaitMs: number): Outage {
  let isOn = false;
  let waits = 0;
  return {
    isOn: () => isOn,
    begin() {
      isOn = true;
    },
    end() {
      isOn = false;
      waits = 0;
    },
    async wait(signal) {
      const ceiling = Math.min(LONGEST_WAIT_MS, firstWaitMs * 2 ** waits);
      waits += 1;
      isOn = false;
      await sleep(ceiling / 2 + (Math.random() * ceiling) / 2, signal);
    },
  };
}
