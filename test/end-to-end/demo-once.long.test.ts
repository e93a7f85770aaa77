// The demo that ends by itself, twice over the same directory.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { runCliAlone } from '../support/run-cli.ts';
import { openTerminal } from '../support/terminal.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

let dataDir: string;

beforeAll(async () => {
  dataDir = await makeDataDir();
});
afterAll(() => removeDataDir(dataDir));

test('demo --once mirrors a verified program from nothing, pays a few commissions, and again where it was before', async () => {
  // The second demo pays others, and the one whose request was mistaken.
  for (const inserted of ['6,000 new', '0 new']) {
    const { code, stdout, stderr } = await runCliAlone(['demo', '--once'], { DATA_DIR: dataDir });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 3).join('\n')).toMatch(
      /status page, .*: http:\/\/127\.0\.0\.1:\d+\/$/,
    );
    expect(stdout).toContain(inserted);
    expect(stdout).toMatch(/affiliates +│ +400 +│ +400 +│ yes/);
    expect(stdout).toMatch(/referrals +│ +6,000 +│ +6,000 +│ yes/);
    expect(stdout).toMatch(/commissions +│ +2,503 +│ +2,503 +│ yes/);
    expect(stdout).toMatch(/sales +│ +2,503 +│ +2,503 +│ yes/);
    expect(stdout).toMatch(/What would finance pay today\?[\s\S]+│ EUR +│ +\d+ +│ +\d+ +│ +[\d,]{5,} +│/);
    expect(stdout.match(/│ applied +│ marked paid at /g)).toHaveLength(3);
    expect(
      stdout.match(
        /│ conflict +│ expected the amount [\d.,]+ [A-Z]{3}, but it is [\d.,]+ [A-Z]{3}: nothing was sent/g,
      ),
    ).toHaveLength(1);
    expect(stdout).toContain('Its Postgres stops now, unless another process uses it: ');
    const password = (await readFile(join(dataDir, 'postgres', 'password'), 'utf8')).trim();
    expect(stdout).not.toContain(password);
    expect(stdout).not.toContain('no │');
  }
});

test('in a narrow terminal, demo breaks its sentences between words', async () => {
  const session = openTerminal(`exec '${process.execPath}' '${MAIN}' demo --once`, {
    size: { columns: 40, rows: 24 },
    environment: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', LANG: 'C.UTF-8', DATA_DIR: dataDir },
  });
  expect(await session.ended).toBe(0);
  const lines = session.everything();
  expect(lines.join(' ')).toContain('Each request says what it expects to find. The last');
});
