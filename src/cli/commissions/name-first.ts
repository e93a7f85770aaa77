// Names the first of what may be thousands.

import { formatCount } from '../../contract/format.ts';

const MOST_NAMED = 5;

/** Returns the first names, and how many more there are: `line 2, line 3 and 12 more`. */
export function nameFirst(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${formatCount(names.length - MOST_NAMED)} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
