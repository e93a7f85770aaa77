// Finds variables of the environment that were meant for affiliate-mirror, and whose names it does not know: without a
// word, a misspelt PII would leave personal data in plain.

import { countMistakes, findNearMiss } from '../commissions/files/near-miss.ts';
import { VARIABLES } from '../config/variables.ts';

const NAMES = VARIABLES.map(({ name }) => name);

/** What begins with one of these words is meant for us. */
const OURS = ['AFFILIATE', 'ALERT', 'EXPORT', 'PII', 'RETENTION', 'STATUS', 'SYNC'];

/**
 * Other programs have such variables as well, say API_KEY: only a name that misses ours by a letter or two is meant.
 */
const ALSO_OF_OTHERS = ['API', 'COMMISSION', 'MIRROR', 'STALE'];

/** Kubernetes gives these to every container, one for each Service there, such as AFFILIATE_MIRROR_SERVICE_HOST. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)|_PORT(?:_\d+_|$)/;

/** Returns a sentence for each variable that we do not know and that seems to be meant for us. */
export function describeUnknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(environment)
    .filter((name) => !NAMES.includes(name) && !SERVICE_LINK.test(name) && isMeantForUs(name))
    .toSorted()
    .map((name) => `${name} is not a variable of affiliate-mirror: the nearest is ${findNearest(name)}`);
}

function isMeantForUs(name: string): boolean {
  if (!name.includes('_')) return false;
  if (OURS.includes(firstWord(name))) return true;
  return ALSO_OF_OTHERS.includes(firstWord(name)) && findNearMiss(name, NAMES) !== null;
}

function findNearest(name: string): string | undefined {
  return NAMES.filter((known) => firstWord(known) === firstWord(name))
    .toSorted((a, b) => countMistakes(name, a) - countMistakes(name, b))
    .at(0);
}

function firstWord(name: string): string {
  return name.split('_', 1)[0] ?? '';
}
