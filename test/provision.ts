// The first step of `npm test`: brings what npm cannot bring, or says how to. Quiet where all is there.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const OLDEST_NODE = 24;

/** What the tests run beside Node, and the Debian package that holds it; some are needed by the long ones only. */
const PROGRAMS = [
  { program: 'redis-server', debianPackage: 'redis-server', isLong: false },
  { program: 'openssl', debianPackage: 'openssl', isLong: true },
  { program: 'pg_createcluster', debianPackage: 'postgresql', isLong: true },
  { program: 'pgbouncer', debianPackage: 'pgbouncer', isLong: true },
  { program: 'buildah', debianPackage: 'buildah', isLong: true },
  { program: 'debootstrap', debianPackage: 'debootstrap', isLong: true },
  { program: 'systemd-analyze', debianPackage: 'systemd', isLong: true },
  { program: 'zsh', debianPackage: 'zsh', isLong: true },
  { program: 'fish', debianPackage: 'fish', isLong: true },
  { program: 'chromium-headless-shell', debianPackage: 'chromium-headless-shell', isLong: true },
  { program: 'nginx', debianPackage: 'nginx', isLong: true },
  { program: 'caddy', debianPackage: 'caddy', isLong: true },
  { program: 'prometheus', debianPackage: 'prometheus', isLong: true },
  { program: 'python3', debianPackage: 'python3-minimal', isLong: true },
] as const;

function provision(withLong: boolean): void {
  const [major] = process.versions.node.split('.');
  if (Number(major) < OLDEST_NODE) {
    fail(
      `The tests need Node ${OLDEST_NODE} or newer, and this is ${process.version}. ` +
        'Run "npm ci", which installs one, and start them with "npm test".',
    );
  }
  const needed = PROGRAMS.filter(({ isLong }) => withLong || !isLong);
  const missing = needed.filter(({ program }) => !isInstalled(program));
  if (missing.length === 0) return;
  const packages = missing.map(({ debianPackage }) => debianPackage);
  const names = missing.map(({ program }) => program).join(', ');
  const install = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || !isInstalled('apt-get')) {
    fail(`The tests need ${names}. Install with: sudo sh -c '${install}'`);
  }
  say(`The tests need ${names}: installing from Debian's packages.`);
  aptGet('update');
  aptGet('install', '-y', '--no-install-recommends', ...packages);
  const still = missing.filter(({ program }) => !isInstalled(program));
  if (still.length > 0) fail(`${names} is still missing after: ${install}`);
}

function isInstalled(program: string): boolean {
  // Where Debian puts servers is not always on an ordinary user's path.
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/sbin'];
  return directories.some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function aptGet(...args: string[]): void {
  const { status, error, stdout, stderr } = spawnSync('apt-get', ['-q', ...args], {
    encoding: 'utf8',
    // The tests start servers of their own: neither init nor systemd is to start the package's service.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', SYSTEMD_OFFLINE: '1' },
  });
  if (status === 0) return;
  fail(`"apt-get ${args.join(' ')}" failed:\n${stdout}${stderr}${error?.message ?? ''}`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function fail(text: string): never {
  say(text);
  process.exit(1);
}

provision(process.argv.includes('--long'));
