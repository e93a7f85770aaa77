// How the blind spots of a delta read wherever the user looks.

import { DELTA_BLIND_SPOTS } from '../sync/delta-blind-spots.ts';

/** Gives back what a delta cannot see, as lines of text. */
export function describeBlindSpots(): string {
  return [
    'A delta does not see, until the next full sync does:',
    ...DELTA_BLIND_SPOTS.map((spot) => `  - ${spot}`),
  ].join('\n');
}
