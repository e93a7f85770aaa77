// A PgBouncer of a test's own, with the configuration that its package brings but for address, port, pool mode and who
// may log in. It ends with the test file.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterFile } from './after-file.ts';
import { makeDirectory } from './directory.ts';
import { findFreePort } from './redis.ts';
import { findServerAccount } from './server-account.ts';

/** Where Debian's package puts them, and whom its service runs as: PgBouncer refuses to run as root. */
const STOCK = '/etc/pgbouncer/pgbouncer.ini';
const EXECUTABLE = '/usr/sbin/pgbouncer';

export type PoolMode = 'session' | 'transaction' | 'statement';

/** Returns the address that leads through it to the database of the other address, as the same role. */
export async function startPgBouncer(
  target: string,
  mode: PoolMode,
  more: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const directory = await makeDirectory();
  const { hostname, port, username, password, pathname } = new URL(target);
  const own = await findFreePort();
  const settings: Record<string, string | number> = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    // Of a server that asks for no password, none is known.
    auth_type: password === '' ? 'trust' : 'plain',
    auth_file: join(directory, 'users'),
    logfile: join(directory, 'log'),
    pidfile: join(directory, 'pid'),
    pool_mode: mode,
    ...more,
  };
  const stock = (await readFile(STOCK, 'utf8')).replace(/^%include.*$/gm, '');
  const pattern = new RegExp(`^(?:${Object.keys(settings).join('|')})\\s*=.*$`, 'gm');
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const configuration = stock
    .replace(pattern, '')
    .replace('[databases]', `[databases]\n* = host=${hostname} port=${port}`)
    .replace('[pgbouncer]', `[pgbouncer]\n${lines.join('\n')}`);
  await writeFile(join(directory, 'users'), `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(join(directory, 'pgbouncer.ini'), configuration);
  const account = await findServerAccount();
  if (account !== null) await chown(directory, account.uid, account.gid);
  const child = spawn(EXECUTABLE, [join(directory, 'pgbouncer.ini')], { stdio: 'ignore', ...account });
  await once(child, 'spawn').catch((error: unknown) => {
    throw new Error('pgbouncer does not start: "node test/provision.ts --long" installs it, or says how to', {
      cause: error,
    });
  });
  afterFile(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  url.pathname = pathname;
  await untilAnswers(url.href, child, join(directory, 'log'));
  return url.href;
}

async function untilAnswers(url: string, child: ChildProcess, log: string): Promise<void> {
  while (child.exitCode === null) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      await client.end();
      return;
    } catch {
      await sleep(20);
    }
  }
  throw new Error(`pgbouncer ended: ${await readFile(log, 'utf8').catch(() => 'no log')}`);
}
