// Finds variables of the environment that were meant for affiliate-mirror, and whose names it does not know: without a
// word, a misspelt RETENTION_HISTORY_DAYS would keep everything. A name of a single word may be anybody's: nobody can
// tell a misspelt PII.

import { countMistakes, findNearMiss } from '../commissions/files/near-miss.ts';
import { VARIABLES } from '../config/variables.ts';

const NAMES = VARIABLES.map(({ name }) => name);

/** What begins with one of these words is meant for us. */
const OURS = ['AFFILIATE', 'ALERT', 'EXPORT', 'PII', 'RETENTION', 'STATUS', 'SYNC'];

/**
 * Other programs have such variables as well, say API_KEY: only a name that misses ours by a letter or two is meant.
 */
const ALSO_OF_OTHERS = ['API', 'COMMISSION', 'MIRROR', 'STALE'];

/** Words long enough to see a mistake in them. */
const LONG_WORDS = [...OURS, ...ALSO_OF_OTHERS].filter((word) => word.length > 3);

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
  const word = firstWord(name);
  if (OURS.includes(word)) return true;
  const mayMiss = ALSO_OF_OTHERS.includes(word) || findNearMiss(word, LONG_WORDS) !== null;
  return mayMiss && findNearMiss(name, NAMES) !== null;
}

function findNearest(name: string): string | undefined {
  const [first] = NAMES.filter((known) => firstWord(known) === firstWord(name)).toSorted(
    (a, b) => countMistakes(name, a) - countMistakes(name, b),
  );
  return first ?? findNearMiss(name, NAMES) ?? undefined;
}

function firstWord(name: string): string {
  return name.split('_', 1)[0] ?? '';
}
