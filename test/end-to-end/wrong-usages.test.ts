// The table of wrong usages: what each says and the exit code that it ends with. Each problem is one line under the
// program's name that names the fix; below it, what commander refuses points at the help. Never a stack, never a
// secret.

import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { type CliRun, runCli } from '../support/run-cli.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
/** Read from a directory of this file's own. */
const FILES: Readonly<Record<string, string>> = {
  'no-id.csv': 'action,paid_at\npay,2026-10-01T12:00:00Z\n',
  'bad-rows.csv': `commission_id,action,paid_at\n${ID},pay,\nnobody,pay,2026-10-01T12:00:00Z\n`,
  'good.csv': `commission_id,action,paid_at\n${ID},pay,2026-10-01T12:00:00Z\n`,
  'bad-books.csv': 'amount\n12\n',
};

let database: TestDatabase;
let sandbox: TestSandbox;
let directory = '';

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool);
  // The queue's tables too: the test database has only the mirror's.
  expect(await run('migrate', {})).toMatchObject({ code: 0 });
  directory = await makeDirectory();
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(directory, name), content);
  execFileSync('mkfifo', [join(directory, 'pipe.csv')]);
  return async () => {
    await sandbox.close();
  };
});

type Environment = Readonly<Record<string, string>>;

async function run(line: string, more: Environment): Promise<CliRun> {
  const args = line === '' ? [] : line.split(' ').map((word) => word.replace('DIR', directory));
  const given = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'silent',
    ...more,
  };
  // Empty counts as unset.
  return runCli(args, given);
}

/** Command line, what its environment has otherwise, exit code, what it says. */
type WrongUsage = readonly [line: string, more: Environment, code: number, says: RegExp];

const LOUD = { LOG_LEVEL: 'loud' };
const NO_PROGRAM = { AFFILIATE_API_URL: '', AFFILIATE_API_SECRET: '' };
const DOWN = { DATABASE_URL: 'postgres://someone:a-password@127.0.0.1:1/somewhere' };
const UNTOUCHED = { MIRROR_SCHEMA: 'untouched' };

const WRONG_ARGUMENTS: readonly WrongUsage[] = [
  ['sync payments', {}, 2, /Allowed choices are affiliates, referrals/],
  ['status --max-age soon', {}, 2, /'soon' is invalid\. .*such as 90m, 26h or 2d/],
  ['grants worker --role ', {}, 2, /option '--role <name>' is empty/],
  ['sandbox --port high', {}, 2, /'high' is invalid\. It must be a whole number from 0 to 65535/],
  ['commissions pay nobody', {}, 2, /nobody/],
  [`commissions pay ${ID} --at tomorrow`, {}, 2, /is not a timestamp: write one such as 20/],
  [
    `commissions pay ${ID} --at 01/02/2026`,
    {},
    2,
    /and 2026-01-02 where the month does: write the one that you mean, with its time and zone\./,
  ],
  [`commissions pay ${ID} --dry-run --wait`, {}, 2, /'--dry-run' cannot be used with option '--wait'/],
  [
    'commissions payable --affiliate nobody',
    {},
    2,
    /no affiliate with the identifier or email address nobody/,
  ],
  ['commissions payable --paid-at 2026-10-01T00:00:00Z', {}, 2, /is for the payout file: give -o payouts/],
  // A directory, as bash completes the name of one.
  ['commissions template -o payouts.csv/', {}, 2, /must end in \.csv or \.xlsx/],
  ['forget ', {}, 2, /argument 'who' is empty/],
  ['commissions reconcile', {}, 2, /name a file, or give --due without one/],
  ['commissions reconcile --by payout', {}, 2, /name a file, or give --due without one/],
  [
    'commissions reconcile books.csv --map affiliate=Payee',
    {},
    2,
    /--map affiliate is for --by payout: the columns are commission_id, /,
  ],
  ['commissions reconcile books.csv --wait', {}, 2, /--wait is for --fix/],
  [
    'commissions reconcile --due --since october',
    {},
    2,
    /option '--since <date>' argument 'october' is invalid/,
  ],
  [
    'commissions status november',
    {},
    2,
    /no batch, request, commission or payout november: "affiliate-mirror commissions status"/,
  ],
];

const WRONG_FILES: readonly WrongUsage[] = [
  ['commissions apply DIR/nowhere.csv', {}, 2, /cannot read \S+nowhere\.csv: there is no such file/],
  ['commissions apply DIR', {}, 2, /cannot read \S+: it is a directory$/m],
  // A device such as /dev/null is one like it, which a file would take the place of.
  ['commissions template -o DIR/pipe.csv', {}, 2, /cannot write \S+pipe\.csv: it is no regular file$/m],
  ['commissions apply DIR/good.csv --result DIR/pipe.csv', {}, 2, /pipe\.csv: it is no regular file$/m],
  ['commissions apply DIR/no-id.csv', {}, 2, /commission_id/],
  ['commissions apply DIR/bad-rows.csv', {}, 2, /^ {2}line 2: .*paid_at[\s\S]*^ {2}line 3: .*nobody/m],
  ['commissions reconcile DIR/bad-books.csv', {}, 2, /commission_id/],
];

const WRONG_VARIABLES: readonly WrongUsage[] = [
  ...['sync', 'work', 'migrate', 'status', 'deletions list', 'grants worker', 'sandbox', 'demo'].map(
    (line): WrongUsage => [line, LOUD, 2, /^affiliate-mirror: LOG_LEVEL must be one of trace, /],
  ),
  ...['sync', 'work', `commissions pay ${ID} --wait`].map(
    (line): WrongUsage => [line, NO_PROGRAM, 2, /^ {2}AFFILIATE_API_URL is not set[\s\S]*company settings$/m],
  ),
  [
    'sync',
    { AFFILIATE_API_SECRET: '', AFFILIATE_API_SECRET_FILE: '/nowhere/secret' },
    2,
    /cannot be read \(ENOENT: no such file or directory/,
  ],
];

const WRONG_SURROUNDINGS: readonly WrongUsage[] = [
  [
    'sync affiliates',
    { AFFILIATE_API_SECRET: 'mistyped-secret' },
    1,
    /AFFILIATE_API_SECRET against the account's company settings/,
  ],
  ...['sync', 'work', 'migrate', 'status', 'deletions list', 'commissions status', 'sandbox'].map(
    (line): WrongUsage => [
      line,
      DOWN,
      1,
      /cannot connect to database somewhere at 127\.0\.0\.1:1: .*DATABASE_URL/,
    ],
  ),
  ...['sync', 'work', 'status', 'deletions list', 'commissions status'].map(
    (line): WrongUsage => [
      line,
      UNTOUCHED,
      1,
      /the schema untouched has no tables yet: run affiliate-mirror migrate/,
    ],
  ),
];

describe.each([
  ['arguments', WRONG_ARGUMENTS],
  ['files', WRONG_FILES],
  ['variables', WRONG_VARIABLES],
  ['surroundings', WRONG_SURROUNDINGS],
])('wrong %s', (_, usages) => {
  test.each(usages)('%s with %j ends with %i', async (line, more, code, says) => {
    const { stdout, stderr, ...ended } = await run(line, more);
    expect(ended.code, stderr).toBe(code);
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^affiliate-mirror: /);
    // One line, or a heading and a line for each problem; of commander, a hint in brackets.
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .slice(1)
        .filter((one) => !/^( {2}\S|\(.*\)$)/.test(one)),
    ).toEqual([]);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/^\s+at .+:\d+|a-password|mistyped-secret/m);
  });
});

test.each(['', 'commissions'])(
  '"%s" without a command shows its help on stderr, and ends with 2',
  async (line) => {
    const { code, stdout, stderr } = await run(line, {});
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(new RegExp(`^Usage: affiliate-mirror ${line}`));
  },
);

test.each([
  ['a bad variable', LOUD, 2, /^✗ configuration: LOG_LEVEL must be[\s\S]*\n1 check, 1 failed\n$/m],
  ['missing variables', NO_PROGRAM, 2, /^✗ program settings: .*company settings$[\s\S]*, 1 failed\n$/m],
  ['no database', DOWN, 1, /^✗ database: cannot connect[\s\S]*, 1 failed\n$/m],
  ['no program', { AFFILIATE_API_URL: 'http://127.0.0.1:1' }, 1, /^✗ program: no answer[\s\S]* failed\n$/m],
] as const)(
  'doctor with %s looks at the rest, counts, and ends with the code of what failed',
  async (_, more, code, says) => {
    const { stdout, stderr, ...ended } = await run('doctor', more);
    expect(stdout).toMatch(says);
    expect(ended.code).toBe(code);
    expect(stderr).toBe('');
  },
);

test('a directory without a database says that it made an empty one, once', async () => {
  const dataDir = await makeDataDir();
  try {
    const elsewhere = { DATABASE_URL: '', DATA_DIR: dataDir };
    const first = await run('status', elsewhere);
    expect(first.code).toBe(1);
    expect(first.stderr).toMatch(
      /^affiliate-mirror: a new, empty database was made in \S+, since DATABASE_URL is not set\naffiliate-mirror: the schema mirror has no tables yet: .*\n$/,
    );
    const second = await run('status', elsewhere);
    expect(second.stderr).toMatch(/^affiliate-mirror: the schema mirror has no tables yet: .*\n$/);
  } finally {
    await removeDataDir(dataDir);
  }
});
