// The directory of this package, and its version.

import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** Has package.json, the migrations and the assets of the status page. */
export const PACKAGE_DIRECTORY = dirname(findPackageJSON(import.meta.url) ?? '');

export function readVersion(): string {
  return JSON.parse(readFileSync(join(PACKAGE_DIRECTORY, 'package.json'), 'utf8')).version;
}

/**
 * For `--version`: the versions of the package, of Node, and of the schema, which is the newest numbered migration.
 */
export function describeVersion(): string {
  const files = readdirSync(join(PACKAGE_DIRECTORY, 'migrations')).filter((name) => name.endsWith('.sql'));
  const newest = files.toSorted().at(-1) ?? 'none';
  return [
    `affiliate-mirror ${readVersion()}`,
    `node ${process.versions.node}`,
    `schema ${newest.replace(/\.sql$/, '')}`,
  ].join('\n');
}
