// The names of the schemas that belong to a mirror's schema, so that two mirrors in one database never share one.

import { createHash } from 'node:crypto';

/** Postgres' limit, in bytes. */
const LONGEST_NAME = 63;

/** Returns the schema of the views for analysts: mirror_reports for the schema mirror. */
export function reportsSchema(mirrorSchema: string): string {
  return siblingSchema(mirrorSchema, 'reports');
}

/** Returns the schema's name with the word as its end; a long name is cut, and ends in a digest. */
export function siblingSchema(mirrorSchema: string, word: string): string {
  const name = `${mirrorSchema}_${word}`;
  if (name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(mirrorSchema).digest('hex').slice(0, 8);
  const end = `_${word}_${digest}`;
  return `${mirrorSchema.slice(0, LONGEST_NAME - end.length)}${end}`;
}
