// The benchmark runs, so that it cannot rot. Its figures are not judged here: that takes a quiet machine.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url));
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-bench-test-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test('the benchmark measures everything that it names, and writes it down', {
  timeout: 180_000,
}, async () => {
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
});
