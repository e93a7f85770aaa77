// The benchmark is run, so that it keeps working. Its figures are not judged here: that takes a quiet machine.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url));
/** Where the built program is. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-bench-test-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test('the benchmark measures everything that it names, and writes it down', async () => {
  const output = join(directory, 'results.json');
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, '--quick', '--output', output]);
  const { figures } = JSON.parse(await readFile(output, 'utf8'));
  for (const { name, median } of figures) {
    expect(stdout).toContain(name);
    expect(Number.isFinite(median), name).toBe(true);
  }
  const medianOf = (name: string) => figures.find((figure: { name: string }) => figure.name === name)?.median;
  expect(medianOf('rows that it wrote')).toBe(0);
  // Both lists of 20 and 2 pages' worth, and the head of each once more.
  expect(medianOf('requests')).toBe(20 + 1 + 2);
  // A limit that is kept cannot be used by more.
  expect(medianOf('share of 10/0.5 that payments use')).toBeLessThanOrEqual(100);
  expect(medianOf('requests of payments that 10/0.5 refuses')).toBe(0);
  expect(medianOf('requests of a sync that 20/1 refuses')).toBe(0);
});

test('a benchmark that is stopped ends what it started, and leaves no file', async () => {
  const temporary = join(directory, 'tmp');
  await mkdir(temporary);
  const builtBefore = await readdir(CACHE);
  // Root's Postgres runs as another user.
  for (const path of [directory, temporary]) await chmod(path, 0o755);
  const bench = spawn(process.execPath, [RUN, '--quick'], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(bench, 'exit');
  const lines = createInterface(bench.stderr);
  await once(lines, 'line');
  const [pidFile] = await Array.fromAsync(glob('*/postgres/data/postmaster.pid', { cwd: temporary }));
  const [, , , port] = (await readFile(join(temporary, pidFile ?? ''), 'utf8')).split('\n');

  bench.kill('SIGTERM');
  const [[said], [code]] = await Promise.all([once(lines, 'line'), ended]);
  expect(said).toBe('stopped by SIGTERM; nothing is left behind');
  expect(code).toBe(143);
  expect(await readdir(temporary)).toEqual([]);
  expect(await readdir(CACHE)).toEqual(builtBefore);
  await expect(once(connect(Number(port), '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
});
