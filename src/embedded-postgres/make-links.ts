// The links between the libraries of the embedded Postgres, which npm cannot pack: a script of the package makes them
// when it is installed. `npm ci --ignore-scripts`, a usual precaution, leaves them out, so the first start makes them.

import { readFile, stat, symlink } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { errorCode } from '../describe-error.ts';
import { EmbeddedPostgresFailed } from '../errors.ts';

/** A link beside the file that it leads to, both as `native/lib/…`. */
interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes those that are missing below the package's directory `native`.
 *
 * Throws: EmbeddedPostgresFailed where this user may not; `rebuild` is what makes them instead.
 */
export async function makeLinks(native: string, rebuild: string): Promise<void> {
  // Where a platform needs none, there is no list.
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: readonly Link[] = JSON.parse(list);
  for (const { source, target } of links) {
    const path = join(native, relative('native', target));
    if ((await stat(path).catch(() => null)) === null) await makeLink(path, basename(source), rebuild);
  }
}

async function makeLink(path: string, file: string, rebuild: string): Promise<void> {
  try {
    await symlink(file, path);
  } catch (error) {
    const code = errorCode(error);
    // Another process has made it meanwhile.
    if (code === 'EEXIST') return;
    throw new EmbeddedPostgresFailed(
      `the embedded Postgres lacks the link ${path}, which cannot be made (${code}): npm ran no scripts (ignore-scripts). ` +
        `Run "${rebuild}" as the user who installs, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}
