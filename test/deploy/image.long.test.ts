// The image, built and run as far as a machine without a container engine can: Debian's buildah builds it, and its
// files are the root of a real worker, read-only, under a user that they do not know.
//
// Not shown here: the engine's own part (the health check's schedule, networks, Compose), and the base image from
// Docker Hub. In its place is one of the same name, made of Debian's packages and of the Node that runs this test.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { findFreePort } from '../support/redis.ts';

const ROOT = join(import.meta.dirname, '../..');
const BASE = 'docker.io/library/node:26-bookworm-slim';
const IMAGE = 'localhost/affiliate-mirror:test';
/** Neither the image nor the machine has such a user. */
const STRANGER = '54321:54321';
const OWN_CA = process.env['NODE_EXTRA_CA_CERTS'];
const CA_IN_IMAGE = '/etc/ssl/certs/extra.crt';

let directory: string;
let files: string;
const children = new Set<ChildProcess>();

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'affiliate-mirror-image-'));
  makeBaseImage();
  // The format that knows health checks.
  buildah('bud', '--pull-never', '--layers=false', '--format', 'docker', '--tag', IMAGE, ROOT);
  const container = buildah('from', '--pull-never', IMAGE);
  files = buildah('mount', container);
}, 900_000);

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function buildah(command: string, ...args: string[]): string {
  const storage = ['--root', join(directory, 'storage'), '--runroot', join(directory, 'run')];
  const isolation = command === 'bud' || command === 'run' ? ['--isolation', 'chroot'] : [];
  return run('buildah', [...storage, '--storage-driver', 'vfs', command, ...isolation, ...args]);
}

function makeBaseImage(): void {
  const debian = join(directory, 'debian');
  // What the official image adds to Debian's smallest system.
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates,libatomic1', 'bookworm', debian]);
  cpSync(process.execPath, join(debian, 'usr/local/bin/node'));
  const npm = join(realpathSync(run('which', ['npm'])), '../..');
  cpSync(npm, join(debian, 'usr/local/lib/node_modules/npm'), { recursive: true });
  if (OWN_CA !== undefined) cpSync(OWN_CA, join(debian, CA_IN_IMAGE));
  const container = buildah('from', 'scratch');
  buildah('add', '--quiet', container, debian, '/');
  buildah('run', container, '--', 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm');
  if (OWN_CA !== undefined) buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${CA_IN_IMAGE}`, container);
  buildah('commit', '--quiet', container, BASE);
  rmSync(debian, { recursive: true });
}

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly ExposedPorts: object;
  readonly Labels: object;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

function readConfig(): ImageConfig {
  return JSON.parse(buildah('inspect', '--type', 'image', IMAGE)).Docker.config;
}

/** Starts the program with the image's files as a root that cannot be written, on this machine's network. */
function start(command: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const { Env, Entrypoint } = readConfig();
  const script = `
    mount --bind "$0" "$0" && mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev"
    mount -o remount,ro,bind "$0"
    exec chroot --userspec=${STRANGER} "$0" "$@"`;
  const variables = Object.fromEntries(Env.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  const child = spawn('unshare', ['--mount', 'sh', '-c', script, files, ...Entrypoint, ...command], {
    env: { ...variables, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text) => (stdout += text));
  child.stderr?.on('data', (text) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

test('says how it is run: as no root, with a status page for its container alone, with a check of its health', () => {
  expect(readConfig()).toMatchObject({
    User: '1000:1000',
    Env: expect.arrayContaining(['NODE_ENV=production']),
    Cmd: ['work'],
    ExposedPorts: { '8080/tcp': {} },
    Labels: { 'org.opencontainers.image.licenses': 'MIT' },
    Healthcheck: { Test: ['CMD', 'node', '-e', expect.stringContaining('/readyz')] },
  });
  // Others may reach it only with a password, which an image cannot have.
  expect(readConfig().Env.join(' ')).not.toContain('STATUS_HOST');
});

test('holds the package, and neither what builds it nor a Postgres', () => {
  const program = join(files, 'usr/local/lib/node_modules/affiliate-mirror');
  expect(existsSync(join(program, 'migrations'))).toBe(true);
  expect(existsSync(join(files, 'build'))).toBe(false);
  expect(
    run('find', [program, '-path', '*/bin/postgres', '-o', '-name', 'typescript', '-o', '-name', 'vitest']),
  ).toBe('');
});

test('under any user, with nothing writable: says its version', async () => {
  expect(await ended(start(['--version'], {}))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('affiliate-mirror 1.'),
    stderr: '',
  });
});

test('under any user, with nothing writable: migrates, syncs, works until SIGTERM, and is found healthy', async () => {
  const [{ url }, { pool: programPool }] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const sandbox: TestSandbox = await runSandbox(programPool);
  const environment = {
    DATABASE_URL: url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    STATUS_PORT: String(await findFreePort()),
  };
  expect(await ended(start(['sync', '--migrate', '--json'], environment))).toMatchObject({ code: 0 });
  const worker = start(['work'], environment);
  const end = ended(worker);
  const [, , , healthCheck = ''] = readConfig().Healthcheck.Test;
  const isHealthy = () => {
    try {
      execFileSync(process.execPath, ['-e', healthCheck], { env: environment });
      return true;
    } catch {
      return false;
    }
  };
  await expect.poll(isHealthy, { interval: 500, timeout: 120_000 }).toBe(true);
  worker.kill('SIGTERM');
  expect(await end).toMatchObject({ code: 0 });
});
