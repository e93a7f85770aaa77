// The package that this code belongs to: where its other files are, and its version. Both src/ and the dist/ of the
// published package lie directly below the package's directory, and so does everything that looks for it from here.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where package.json and the migrations are. */
export const PACKAGE_DIRECTORY = join(import.meta.dirname, '..');

/** Returns the version of the package. */
export function readVersion(): string {
  return JSON.parse(readFileSync(join(PACKAGE_DIRECTORY, 'package.json'), 'utf8')).version;
}

/**
 * Returns what `--version` prints: the version of the package, of Node, and of the schema, which is the newest
 * migration.
 */
export function describeVersion(): string {
  const newest = readdirSync(join(PACKAGE_DIRECTORY, 'migrations')).toSorted().at(-1) ?? 'none';
  return [
    `affiliate-mirror ${readVersion()}`,
    `node ${process.versions.node}`,
    `schema ${newest.replace(/\.sql$/, '')}`,
  ].join('\n');
}
