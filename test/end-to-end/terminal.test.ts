// The commands in a real terminal of 80 columns: what a person sees while they run, and after Ctrl-C.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { runSandbox, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { runCli } from '../support/run-cli.ts';
import { openTerminal, type TerminalSession } from '../support/terminal.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const REFERRALS = 1_500;
const PAGE = 100;
const CTRL_C = '\u0003';
/** Enough for the affiliates and some pages of referrals; the next window is further off than any test. */
const TIGHT_LIMIT = '8/3600';

let sandbox: TestSandbox;
let environment: Readonly<Record<string, string>>;
let directory: string;
let session: TerminalSession | undefined;

beforeAll(async () => {
  const database = await createTestDatabase();
  sandbox = await runSandbox(database.pool, { optionalLists: ['commissions'], referrals: REFERRALS });
  directory = await makeDataDir();
  environment = {
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    DATABASE_URL: database.url,
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: 'sandbox-secret',
    API_RATE_LIMIT: TIGHT_LIMIT,
  };
  expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
  return async () => {
    await sandbox.close();
    await removeDataDir(directory);
  };
});

afterEach(() => session?.kill());

function open(args: string, more: Readonly<Record<string, string>> = {}): TerminalSession {
  session = openTerminal(`exec '${process.execPath}' '${MAIN}' ${args}`, {
    size: { columns: 80, rows: 24 },
    environment: { ...environment, ...more },
    cwd: directory,
  });
  return session;
}

/** Returns what the screen shows, each sentence on one line again. */
function textOf({ screen }: TerminalSession): string {
  return screen().join(' ').replace(/ +/g, ' ').trim();
}

test('a sync shows the time left and what it waits for, and Ctrl-C how far it came', async () => {
  const sync = open('sync');
  await sync.untilShown(/^\S.* left.* \| referrals .* \| waiting for the request budget, \d+ s/);
  sync.type(CTRL_C);
  expect(await sync.ended).toBe(130);
  const text = textOf(sync);
  expect(text).toMatch(/│ affiliates │.*│ verified │ yes │/);
  expect(text).toMatch(
    /affiliate-mirror: stopped by Ctrl-C: \d+ of 1,500 referrals were read; the next sync goes on there$/,
  );
  expect(text).not.toContain('waiting');

  const [, seen = ''] = /(\d+) of 1,500 referrals/.exec(text) ?? [];
  const before = sandbox.requests.length;
  const next = await runCli(['sync', 'referrals'], { ...environment, API_RATE_LIMIT: 'none' });
  expect(next.code).toBe(0);
  // The last page that was read is read again, and the head of the list at the end.
  const rest = (REFERRALS - Number(seen)) / PAGE + 2;
  expect(sandbox.requests.length - before, 'it goes on there').toBeLessThanOrEqual(rest);
});

test('payments that Ctrl-C stops stay queued, and it says so', async () => {
  const { data } = await sandbox.commissions('?limit=100');
  const ids = data.filter(({ paid_at, voided_at }) => paid_at === null && voided_at === null).slice(0, 2);
  // Of a day that is not far from now, which would be warned of.
  const paidAt = new Date().toISOString();
  const rows = ids.map(({ id }) => `${id},pay,${paidAt}`);
  await writeFile(join(directory, 'payouts.csv'), ['commission_id,action,paid_at', ...rows].join('\n'));

  const apply = open('commissions apply payouts.csv --wait');
  await apply.untilShown(/requests 0% \| waiting for the request budget/);
  apply.type(CTRL_C);
  expect(await apply.ended).toBe(130);
  expect(textOf(apply).replaceAll(/\d{8}-\d{6}(-payouts\.csv-)[0-9a-f]{4}/g, 'N$1N')).toBe(
    'affiliate-mirror: stopped by Ctrl-C: 2 pending; those pending stay queued: ' +
      'the next command with --wait goes on there, and so does a running worker; ' +
      'affiliate-mirror commissions cancel N-payouts.csv-N takes back those that were not sent yet',
  );

  const again = open('commissions apply payouts.csv --wait', { API_RATE_LIMIT: 'none' });
  expect(await again.ended, textOf(again)).toBe(0);
  expect(textOf(again)).toMatch(/ 2 sent now \(2 applied\)$/);
});
