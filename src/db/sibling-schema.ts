// The names of the schemas that lie beside the mirror's own, so that two mirrors in one database never share one.

import { createHash } from 'node:crypto';

/** Of a name in Postgres. */
const LONGEST_NAME = 63;

/** Returns the schema of the views for analysts: mirror_reports, for a mirror in the schema mirror. */
export function reportsSchema(mirrorSchema: string): string {
  return siblingSchema(mirrorSchema, 'reports');
}

/** Returns the mirror's name with that word behind it; a long name is cut, and told apart by a digest. */
export function siblingSchema(mirrorSchema: string, word: string): string {
  const name = `${mirrorSchema}_${word}`;
  if (name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(mirrorSchema).digest('hex').slice(0, 8);
  const end = `_${word}_${digest}`;
  return `${mirrorSchema.slice(0, LONGEST_NAME - end.length)}${end}`;
}
