import { once } from 'node:events';
import { mkdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/embedded-postgres/embedded-postgres.ts';
import { findProcesses, query } from '../support/embedded-directories.ts';
import { startEmbeddedUser } from '../support/embedded-user.ts';
import { useDataDir } from './use-data-dir.ts';

const log = makeLogger('warn');
const given = useDataDir();

function open(): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({ log }, { dataDir: given.dataDir });
}

async function expectGone(postgres: { url: string }): Promise<void> {
  await expect(query(postgres.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  expect(await findProcesses(given.home)).toEqual([]);
  expect(await readFile(join(given.home, 'log'), 'utf8')).toContain('database system is shut down');
}

describe('a start', () => {
  it('gives an empty database on the loopback address only, behind a password of its own', async () => {
    const postgres = await open();
    const rows = await query(
      postgres.url,
      `select current_database() as database, current_setting('listen_addresses') as addresses,
              current_setting('unix_socket_directories') as sockets, current_setting('timezone') as timezone,
              current_setting('server_encoding') as encoding`,
    );
    expect(rows).toEqual([
      {
        database: 'affiliate_mirror',
        addresses: '127.0.0.1',
        sockets: '',
        timezone: 'UTC',
        encoding: 'UTF8',
      },
    ]);
    const { mode } = await stat(join(given.home, 'password'));
    expect(mode & 0o777).toBe(0o600);
    const stranger = new URL(postgres.url);
    stranger.password = 'guess';
    await expect(query(stranger.href, 'select 1')).rejects.toThrow('password authentication failed');
    expect(postgres.madeIn).toBe(await realpath(given.home));
    await postgres.stop();
    await expectGone(postgres);
  });

  it('finds the data and the port of the last run again, or takes another port where something listens on that', async () => {
    await given.makeCluster();
    const first = await open();
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await open();
    expect(second).toMatchObject({ url: first.url, port: first.port, isOwner: true, madeIn: null });
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    const other = createServer().listen(first.port, '127.0.0.1');
    await once(other, 'listening');
    const third = await open();
    expect(third.port).not.toBe(first.port);
    expect(await query(third.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await third.stop();
    other.close();
  });

  it('works after a first start that was killed half way, and makes its password through no link', async () => {
    await mkdir(join(given.home, 'data.new-abc123'), { recursive: true });
    await writeFile(join(given.home, 'data.new-abc123', 'PG_VERSION'), '18\n');
    const victim = join(given.dataDir, 'victim');
    await writeFile(victim, 'precious');
    await symlink(victim, join(given.home, 'password'));
    const postgres = await open();
    expect(await query(postgres.url, 'select 1 as answer')).toEqual([{ answer: 1 }]);
    await expect(stat(join(given.home, 'data.new-abc123'))).rejects.toThrow('ENOENT');
    expect(await readFile(victim, 'utf8')).toBe('precious');
    await postgres.stop();
  });
});

describe('sharing', () => {
  it('outlives the process that started it, and ends with the last user', async () => {
    await given.makeCluster();
    const starter = await startEmbeddedUser(given.dataDir);
    const guest = await startEmbeddedUser(given.dataDir);
    expect([starter.isOwner, guest.isOwner]).toEqual([true, false]);
    expect(guest.url).toBe(starter.url);
    expect(await starter.end('SIGTERM')).toMatchObject({ code: 3, said: { rows: [{ answer: 1 }] } });
    expect(await query(guest.url, 'select 1 as answer')).toEqual([{ answer: 1 }]);
    expect(await guest.end('SIGTERM')).toMatchObject({ code: 3, said: { rows: [{ answer: 1 }] } });
    await expectGone(guest);
  });

  it('comes out of four first starts at once with one server', async () => {
    // What the environment says about Postgres and locales counts for nothing.
    const env = { PGDATA: '/nowhere', PGPORT: '1', PGSSLMODE: 'require', PGUSER: 'x', LC_ALL: 'xx_XX' };
    const users = await Promise.all([1, 2, 3, 4].map(() => startEmbeddedUser(given.dataDir, { env })));
    expect(users.filter(({ isOwner }) => isOwner)).toHaveLength(1);
    expect(new Set(users.map(({ url }) => url)).size).toBe(1);
    expect(await findProcesses(given.home)).toHaveLength(1);
    const ends = await Promise.all(users.map((user) => user.end('SIGTERM')));
    expect(ends.map(({ code }) => code)).toEqual([3, 3, 3, 3]);
    await expectGone({ url: users[0]?.url ?? '' });
  });

  it('is refused to a process in another container, which would start a second server on the same data', async () => {
    await given.makeCluster();
    const user = await startEmbeddedUser(given.dataDir);
    // Where Postgres keeps what it was started with.
    const options = join(given.home, 'data', 'postmaster.opts');
    const here = await readFile(options, 'utf8');
    const elsewhere = here.replace(/affiliate_mirror\.place=\w+/, 'affiliate_mirror.place=1');
    expect(elsewhere).not.toBe(here);
    await writeFile(options, elsewhere);
    await expect(open()).rejects.toThrow('is used by a process in another container');
    expect(await query(user.url, 'select 1 as answer')).toEqual([{ answer: 1 }]);
    await writeFile(options, here);
    const guest = await open();
    expect(guest.isOwner).toBe(false);
    await guest.stop();
    await user.end('SIGTERM');
    // Nobody uses it: wherever it was, it is gone.
    await writeFile(options, elsewhere);
    const next = await open();
    expect(next.isOwner).toBe(true);
    await next.stop();
  });

  it('is not cut off by Ctrl-C, which reaches every process of the terminal', async () => {
    await given.makeCluster();
    const user = await startEmbeddedUser(given.dataDir);
    const { code, said } = await user.end('SIGINT', { group: true });
    expect({ code, said }).toEqual({ code: 3, said: { signal: 'SIGINT', rows: [{ answer: 1 }] } });
    await expectGone(user);
  });
});

describe('after a crash', () => {
  it('shares the server that a killed process left behind, and stops it on leaving', async () => {
    await given.makeCluster();
    const killed = await startEmbeddedUser(given.dataDir);
    await query(killed.url, 'create table kept as select 42 as answer');
    await killed.end('SIGKILL');
    const next = await open();
    expect(next).toMatchObject({ isOwner: false, port: killed.port });
    expect(await query(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await next.stop();
    await expectGone(next);
  });

  it('recovers the data of a server that was killed itself', async () => {
    await given.makeCluster();
    const killed = await startEmbeddedUser(given.dataDir);
    await query(killed.url, 'create table kept as select 42 as answer');
    for (const { pid } of await findProcesses(given.home)) process.kill(pid, 'SIGKILL');
    await killed.end('SIGKILL');
    const next = await open();
    expect(next.isOwner).toBe(true);
    expect(await query(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await next.stop();
  });

  it('starts although the pid file of the dead server names a pid that another process has now', async () => {
    await given.makeCluster();
    const first = await open();
    const pidFile = await readFile(join(given.home, 'data', 'postmaster.pid'), 'utf8');
    await first.stop();
    // This test's own pid: alive, and what Postgres itself would take for a server of its data directory.
    await writeFile(join(given.home, 'data', 'postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)));
    const next = await open();
    expect(next.isOwner).toBe(true);
    await next.stop();
  });
});
