// Finds variables of the environment that were meant for affiliate-mirror, and whose names it does not know: without a
// word, a misspelt RETENTION_HISTORY_DAYS would keep everything. A name of a single word may be anybody's: nobody can
// tell a misspelt PII.

import { countMistakes, findNearMiss } from '../commissions/files/near-miss.ts';
import { VARIABLES } from '../config/variables.ts';

const NAMES = VARIABLES.map(({ name }) => name);

/** What begins so is meant for us; of any other name, one that misses ours by a letter or two. */
const OURS = /^(AFFILIATE|ALERT|EXPORT|PII|RETENTION|STATUS|SYNC)_/;

/** Kubernetes gives these to every container, one for each Service there, such as AFFILIATE_MIRROR_SERVICE_HOST. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)|_PORT(?:_\d+_|$)/;

/** Returns a sentence for each variable that we do not know and that seems to be meant for us. */
export function describeUnknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(environment)
    .filter((name) => name.includes('_') && !NAMES.includes(name) && !SERVICE_LINK.test(name))
    .filter((name) => OURS.test(name) || findNearMiss(name, NAMES) !== null)
    .toSorted()
    .map((name) => `${name} is not a variable of affiliate-mirror: the nearest is ${findNearest(name)}`);
}

function findNearest(name: string): string | undefined {
  return NAMES.toSorted((a, b) => countMistakes(name, a) - countMistakes(name, b))[0];
}
