// Commands with PROGRAMS_FILE: three programs in one database, each a sandbox of its own. The API of gamma refuses its
// secret.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readDocument as read } from '../../tools/schemas/read-document.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { runCli } from '../support/run-cli.ts';

const AFFILIATES = { acme: 12, beta: 20, gamma: 5 };
type Name = keyof typeof AFFILIATES;
const NAMES = Object.keys(AFFILIATES) as Name[];

const mirror = await createTestDatabase();
const directory = await makeDirectory();
const file = join(directory, 'programs.yaml');
const environment = {
  PROGRAMS_FILE: file,
  DATABASE_URL: mirror.url,
  API_RATE_LIMIT: 'none',
  LOG_LEVEL: 'error',
  MIRROR_SCHEMA: 'base',
};

beforeAll(async () => {
  const program = await createTestDatabase();
  const entries: string[] = [];
  for (const name of NAMES) {
    const sandbox = await runSandbox(program.pool, {
      schema: `sandbox_${name}`,
      secret: `${SECRET}-${name}`,
      affiliates: AFFILIATES[name],
      referrals: 50,
    });
    const secretFile = join(directory, `${name}.secret`);
    await writeFile(secretFile, name === 'gamma' ? 'another' : `${SECRET}-${name}`, { mode: 0o600 });
    entries.push(`  ${name}:\n    url: ${sandbox.url}\n    secret_file: ${secretFile}\n`);
  }
  await writeFile(file, `programs:\n${entries.join('')}`);
});

const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCli(args, { ...environment, ...more });

const count = async (schema: string) => {
  const { rows } = await mirror.pool.query(`select count(*) as n from ${schema}.affiliates`);
  return rows[0]?.n;
};

describe('--program', () => {
  test('is refused without PROGRAMS_FILE, with what to set', async () => {
    for (const args of [['status'], ['deletions', 'list'], ['grants', 'worker']]) {
      const { code, stderr } = await runCli([...args, '--program', 'acme'], { DATABASE_URL: mirror.url });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /^affiliate-mirror: --program names a program of PROGRAMS_FILE, which is not set: set /,
        ),
      ]);
    }
  });

  test('names the programs that exist if it names none of them', async () => {
    for (const args of [['status'], ['deletions', 'list']]) {
      const { code, stderr } = await run([...args, '--program', 'amce']);
      expect([code, stderr]).toEqual([
        2,
        'affiliate-mirror: --program: PROGRAMS_FILE has no program "amce", but acme, beta, gamma\n',
      ]);
    }
  });

  test('is needed once by a command of one program', async () => {
    const none = await run(['deletions', 'list']);
    expect([none.code, none.stderr]).toEqual([
      2,
      'affiliate-mirror: PROGRAMS_FILE lists several programs: add --program with the name of one, which are acme, beta, gamma\n',
    ]);
    const two = await run(['deletions', 'list', '--program', 'acme', '--program', 'beta']);
    expect([two.code, two.stderr]).toEqual([
      2,
      'affiliate-mirror: this command works on one program: give --program once\n',
    ]);
  });

  test('is no option of a worker, which serves all', async () => {
    const { code, stderr } = await run(['work', '--program', 'acme']);
    expect([code, stderr]).toEqual([2, expect.stringContaining("unknown option '--program'")]);
  });
});

describe('in the order of a first day', () => {
  test('a program without tables is named in the error', async () => {
    const { code, stderr } = await run(['deletions', 'list', '--program', 'acme']);
    expect([code, stderr]).toEqual([
      1,
      'affiliate-mirror: acme: the schema base_acme has no tables yet: run affiliate-mirror migrate\n',
    ]);
  });

  test('migrate makes the tables of all, and one queue', async () => {
    const { code, stdout, stderr } = await run(['migrate']);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n').toSorted();
    expect(lines).toHaveLength(3);
    for (const [index, name] of NAMES.entries()) {
      expect(lines[index]).toMatch(
        new RegExp(`^${name}: applied \\d+ migrations; schema base_${name} in .* is up to date$`),
      );
    }
    const { rows } = await mirror.pool.query(
      `select nspname as name from pg_namespace where nspname like 'base%' order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'base_acme',
      'base_acme_reports',
      'base_beta',
      'base_beta_reports',
      'base_gamma',
      'base_gamma_reports',
      'base_queue',
    ]);
    const again = await run(['migrate', '--json', '--program', 'beta', '--program', 'acme']);
    expect(read('migrate-programs', again.stdout).programs).toMatchObject([
      { program: 'acme', schema: 'base_acme', migrations: [], queue_schema: 'base_queue' },
      { program: 'beta', schema: 'base_beta', migrations: [], queue_schema: 'base_queue' },
    ]);
  });

  test('sync goes on past the one that fails, and ends with the worst exit code', async () => {
    const { code, stdout, stderr } = await run(['sync']);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/^affiliate-mirror: gamma: .*secret/m);
    expect(stdout).toMatch(/^acme: affiliates: 12 records in /m);
    expect(stdout).toMatch(/^beta: affiliates: 20 records in /m);
    expect(stdout).toMatch(/^3 programs: 2 synced; 1 failed: gamma$/m);
    expect(await count('base_acme')).toBe(12);
    expect(await count('base_beta')).toBe(20);
    expect(await count('base_gamma')).toBe(0);
  });

  test('sync --json has the runs of each, and the error of the one that fails', async () => {
    const { code, stdout } = await run(['sync', 'affiliates', '--json']);
    expect(code).toBe(1);
    expect(read('sync-programs', stdout).programs).toMatchObject([
      { program: 'acme', error: null, runs: [{ resource: 'affiliates', state: 'succeeded' }] },
      { program: 'beta', error: null, runs: [{ resource: 'affiliates', state: 'succeeded' }] },
      { program: 'gamma', error: { code: 'API_UNAUTHORIZED' }, runs: [{ state: 'failed' }] },
    ]);
    const one = await run(['sync', 'affiliates', '--json', '--program', 'acme']);
    expect(one.code).toBe(0);
    expect(read('sync-programs', one.stdout).programs).toMatchObject([{ program: 'acme' }]);
  });

  test('status is a table, the worst first, with a line of sums', async () => {
    const { code, stdout, stderr } = await run(['status']);
    expect([code, stderr]).toEqual([0, '']);
    const names = stdout.match(/^│ (acme|beta|gamma)/gm)?.map((row) => row.slice(2));
    expect(names).toEqual(['gamma', 'acme', 'beta']);
    expect(stdout).toMatch(/^3 programs: 1 not well, 2 well; 0 payments waiting, 0 that need attention$/m);
    expect(stdout).toMatch(/status --program gamma$/m);
    expect((await run(['status', '--check'])).code).toBe(5);
    expect((await run(['status', '--check', '--program', 'acme', '--program', 'beta'])).code).toBe(0);
    const stale = await run(['status', '--max-age', '1d']);
    expect([stale.code, stale.stderr]).toEqual([3, 'affiliate-mirror: gamma: stale, older than 1 d 0 h\n']);
  });

  test('status of one is whole; of several with a section or as a document, too', async () => {
    const one = await run(['status', '--program', 'acme']);
    expect(one.stdout).toMatch(/^acme: All is well\.\n\nSchema base_acme in /);
    const runs = await run(['status', 'runs']);
    expect(runs.stdout).toMatch(/^gamma: Not well: .* Run: affiliate-mirror doctor --program gamma$/m);
    const { stdout } = await run(['status', '--json']);
    expect(read('status-programs', stdout).programs).toMatchObject([
      { program: 'acme', is_well: true },
      { program: 'beta', is_well: true },
      { program: 'gamma', is_well: false },
    ]);
  });

  test('doctor checks the process once, and each program by its name', async () => {
    const { code, stdout } = await run(['doctor']);
    expect(code, stdout).toBe(1);
    for (const subject of ['configuration', 'database', 'connections', 'clock', 'queue']) {
      expect(stdout.match(new RegExp(`^✓ ${subject}: `, 'gm')), subject).toHaveLength(1);
    }
    for (const name of NAMES) expect(stdout).toMatch(new RegExp(`^✓ ${name}: tables: `, 'm'));
    expect(stdout).toMatch(/^✓ acme: program: .* accepts the secret, and has 12 affiliates$/m);
    expect(stdout).toMatch(/^✗ gamma: program: /m);
    const json = await run(['doctor', '--json']);
    expect(read('doctor-programs', json.stdout)).toMatchObject({
      is_well: false,
      failed: 1,
      programs: [
        { program: 'acme', is_well: true },
        { program: 'beta' },
        { program: 'gamma', is_well: false },
      ],
    });
    expect((await run(['doctor', '--program', 'acme'])).code).toBe(0);
  });

  test('export needs a place for the name of each', async () => {
    const refused = await run(['export', 'affiliates', '-o', join(directory, 'out.csv')]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/^affiliate-mirror: -o must have \{program\} in it/),
    ]);
    const { code, stderr } = await run(['export', 'affiliates', '-o', join(directory, '{program}.csv')]);
    expect(code, stderr).toBe(0);
    expect(stderr).toBe(
      NAMES.map((name, index) => {
        const rows = [12, 20, 0][index];
        return `${name}: written: ${join(directory, `${name}.csv`)} (${rows} rows)\n`;
      }).join(''),
    );
    const json = await run(['export', 'affiliates', '--json', '-o', join(directory, '{program}.csv')]);
    expect(read('export-programs', json.stdout).programs).toMatchObject([
      { program: 'acme', object: 'base_acme_reports.affiliates', rows: 12 },
      { program: 'beta', rows: 20 },
      { program: 'gamma', rows: 0 },
    ]);
  });

  test('grants prints for each, with the queue of all', async () => {
    const { code, stdout } = await run(['grants', 'worker']);
    expect(code).toBe(0);
    expect(stdout.match(/^-- Program \w+$/gm)).toEqual([
      '-- Program acme',
      '-- Program beta',
      '-- Program gamma',
    ]);
    expect(stdout).not.toMatch(/base_(acme|beta|gamma)_queue/);
    expect(stdout).toMatch(/base_queue/);
    expect((await run(['grants', 'analyst', '--program', 'beta'])).stdout).not.toMatch(/base_acme/);
  });

  test('a payment is asked for in the program that was named, and its summary says so', async () => {
    const id = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
    const queued = await run(['commissions', 'pay', id, '--program', 'beta']);
    expect(queued.code, queued.stderr).toBe(0);
    expect(queued.stdout).toMatch(/^beta: 1 queued as /);
    expect(queued.stderr).toMatch(/commissions status \S+ --program beta$/m);
    const sums = await mirror.pool.query(
      `select (select count(*) from base_acme.commission_updates) as acme,
              (select count(*) from base_beta.commission_updates) as beta`,
    );
    expect(sums.rows).toEqual([{ acme: 0, beta: 1 }]);
    expect((await run(['status'])).stdout).toMatch(/; 1 payment waiting, /);
  });
});

test('a program whose tables are missing fails alone', async () => {
  await mirror.pool.query('drop schema base_beta, base_beta_reports cascade');
  const { code, stdout, stderr } = await run(['status']);
  expect(code).toBe(1);
  expect(stderr).toBe(
    'affiliate-mirror: beta: the schema base_beta has no tables yet: run affiliate-mirror migrate\n',
  );
  expect(stdout.match(/^│ (acme|beta|gamma)/gm)?.[0]).toBe('│ beta');
  expect(stdout).toMatch(/^3 programs: 1 cannot be read, 1 not well, 1 well; /m);
  const json = await run(['status', '--json']);
  expect(json.code).toBe(1);
  expect(read('status-programs', json.stdout).programs).toMatchObject([
    { program: 'acme', is_well: true },
    { program: 'beta', error: { code: 'DB_SCHEMA_MISMATCH' } },
    { program: 'gamma' },
  ]);
});
