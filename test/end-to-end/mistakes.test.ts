// What a user's mistakes look like from the outside: one clear message, the right exit code, and nothing of the
// secret. (All that a command line alone can get wrong: wrong-usages.test.ts.)

import type { Command } from 'commander';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { loadProgram } from '../../src/cli/run-cli.ts';
import { runSandbox, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli, runCliAlone } from '../support/run-cli.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const SECRET = 'this-must-never-be-seen';

let database: TestDatabase;
let sandbox: TestSandbox;
const runs: CliRun[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool);
  return () => sandbox.close();
});

async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  start = runCli,
): Promise<CliRun> {
  const result = await start(args, environment);
  runs.push(result);
  return result;
}

afterEach(() => {
  for (const { stdout, stderr } of runs.splice(0)) {
    const output = stdout + stderr;
    expect(output).not.toContain(SECRET);
    expect(output).not.toContain(Buffer.from(`${SECRET}:`).toString('base64').slice(0, 20));
    expect(output, 'a stack trace').not.toMatch(/^\s+at .+:\d+/m);
  }
});

function configured(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: database.url,
    ...more,
  };
}

describe('sync', () => {
  test('ends a wrong secret in one line that names the variable', async () => {
    const { code, stdout, stderr } = await run(['sync'], configured(), runCliAlone);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(lastLine(stderr)).toMatch(/^affiliate-mirror: .*AFFILIATE_API_SECRET/);
  });

  test('says what it tried where the program is down', async () => {
    // Nothing listens on port 1 of any machine that this runs on.
    const { code, stdout, stderr } = await run(
      ['sync'],
      configured({ AFFILIATE_API_URL: 'http://127.0.0.1:1' }),
    );
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(lastLine(stderr)).toMatch(
      /^affiliate-mirror: no answer from http:\/\/127\.0\.0\.1:1 after 5 attempts: .*: check AFFILIATE_API_URL$/,
    );
  });

  test('refuses to send the secret over http:// to another machine', async () => {
    const { code, stderr } = await run(['sync'], configured({ AFFILIATE_API_URL: 'http://program.example' }));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^affiliate-mirror: AFFILIATE_API_URL must start with https:\/\/.*\n$/);
  });

  test('names every missing and malformed variable at once', async () => {
    const { code, stderr } = await run(['sync'], {
      AFFILIATE_API_SECRET: `${SECRET} with a space`,
      DATABASE_URL: 'mysql://somewhere',
      MIRROR_SCHEMA: 'Not A Schema',
      API_RATE_LIMIT: 'fast',
      API_TIMEOUT_MS: '-1',
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(2);
    for (const variable of [
      'AFFILIATE_API_URL',
      'AFFILIATE_API_SECRET',
      'DATABASE_URL',
      'MIRROR_SCHEMA',
      'API_RATE_LIMIT',
      'API_TIMEOUT_MS',
      'LOG_LEVEL',
    ]) {
      expect(stderr.match(new RegExp(`^  ${variable} `, 'gm')), variable).toHaveLength(1);
    }
  });

  test.each([[['migrate']], [['sync', '--migrate']]])(
    'says so where a restore left out the triggers: %j',
    async (args) => {
      const { url, pool } = await createTestDatabase();
      await pool.query('drop trigger record_changes on referrals');
      const { code, stderr } = await run(args, configured({ DATABASE_URL: url, LOG_LEVEL: 'error' }));
      expect(stderr).toMatch(
        /^affiliate-mirror: the trigger referrals\.record_changes is missing or off in .*\n$/,
      );
      expect(code).toBe(1);
    },
  );

  test('says to migrate where there are no tables, and makes none by itself', async () => {
    const { code, stderr } = await run(['sync'], configured({ MIRROR_SCHEMA: 'untouched' }));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^affiliate-mirror: the schema untouched has no tables yet: run affiliate-mirror migrate.*\n$/,
    );
    const { rows } = await database.pool.query(`select from pg_namespace where nspname = 'untouched'`);
    expect(rows).toEqual([]);
  });

  test('says which database does not answer, without its password', async () => {
    const { code, stderr } = await run(
      ['sync'],
      configured({ DATABASE_URL: `postgres://someone:${SECRET}@127.0.0.1:1/somewhere` }),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^affiliate-mirror: cannot connect to database somewhere at 127\.0\.0\.1:1: .*DATABASE_URL.*\n$/,
    );
  });
});

const MISSPELT = {
  PII_MODE: 'hash',
  RETENTION_HISTORY_DAY: '30',
  AFFILIATE_AMOUNT_UNITS: 'cent',
  API_TIMEOUT: '5',
  SYCN_FULL_CRON: '0 3 * * *',
};

/** Those that say it in the log, which is all that their stderr is. */
const LOGGING = ['work', 'sync'];
/** Those whose output the shell or a file reads, and that read no configuration. */
const WITHOUT_CONFIGURATION = ['completion', 'commissions template'];
const ARGUMENTS: Readonly<Record<string, string>> = {
  file: '/dev/null',
  output: 'nowhere.csv',
  at: '2026-10-01T00:00:00Z',
};

describe.each(await listUsages())('%s', (command, ...args) => {
  test('warns once of misspelt variables, and leaves stdout alone', async () => {
    const { stdout, stderr } = await run(
      [...command.split(' '), ...args],
      configured({ ...MISSPELT, DATABASE_URL: 'postgres://someone@127.0.0.1:1/somewhere' }),
    );
    const isSaid = (line: string) => line.includes('is not a variable');
    const warnings = stderr.split('\n').filter(isSaid);
    if (command === 'doctor') {
      // Among its checks, for which there is a test below.
      expect(stdout.split('\n').filter(isSaid)).toHaveLength(5);
      expect(warnings).toEqual([]);
      return;
    }
    expect(stdout).not.toContain('is not a variable');
    if (WITHOUT_CONFIGURATION.includes(command)) {
      expect(warnings).toEqual([]);
    } else if (LOGGING.includes(command)) {
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('config.unknown_variables');
      for (const name of Object.keys(MISSPELT)) expect(warnings[0]).toContain(`${name} is not a variable`);
    } else {
      expect(warnings).toEqual([
        'AFFILIATE_AMOUNT_UNITS is not a variable of affiliate-mirror: the nearest is AFFILIATE_AMOUNT_UNIT',
        'API_TIMEOUT is not a variable of affiliate-mirror: the nearest is API_TIMEOUT_MS',
        'PII_MODE is not a variable of affiliate-mirror: the nearest is PII',
        'RETENTION_HISTORY_DAY is not a variable of affiliate-mirror: the nearest is RETENTION_HISTORY_DAYS',
        'SYCN_FULL_CRON is not a variable of affiliate-mirror: the nearest is SYNC_FULL_CRON',
      ]);
    }
  });
});

// The second one reads its configuration twice, and finds the program missing with the second look.
test.each([
  [['work'], /^ {2}AFFILIATE_API_URL is not set/m],
  [['commissions', 'reconcile', '--due'], /^affiliate-mirror: AFFILIATE_API_URL is not set/m],
])('%j names a misspelt variable once, beside the one that is missing for it', async (args, isMissing) => {
  const misspelt = {
    AFFILIATE_API_URI: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: database.url,
  };
  const { code, stderr } = await run(args, misspelt);
  expect(code).toBe(2);
  expect(stderr).toMatch(isMissing);
  expect(
    stderr.match(/AFFILIATE_API_URI is not a variable .* the nearest is AFFILIATE_API_URL$/gm),
  ).toHaveLength(1);
});

/** Returns each command that the program has, with what it asks for at least. */
async function listUsages(): Promise<[string, ...string[]][]> {
  const program = await loadProgram({ environment: {}, run: async () => undefined });
  const list = (command: Command, path: readonly string[]): [string, ...string[]][] => {
    if (command.commands.length > 0) {
      return command.commands.flatMap((one) => list(one, [...path, one.name()]));
    }
    const needed = command.registeredArguments.filter((one) => one.required || one.name() in ARGUMENTS);
    const values = needed.map((one) => one.argChoices?.[0] ?? ARGUMENTS[one.name()] ?? ID);
    const options = command.options.filter(
      ({ mandatory, defaultValue }) => mandatory && defaultValue === undefined,
    );
    const flags = options.flatMap((one) => [`--${one.name()}`, ARGUMENTS[one.name()] ?? '']);
    return [[path.join(' '), ...values, ...flags]];
  };
  return list(program, []);
}

describe('doctor', () => {
  test('fails without a program and says how to fix it, but looks at the rest', async () => {
    const { code, stdout } = await run(['doctor'], { DATABASE_URL: database.url });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^✓ configuration: /m);
    expect(stdout).toMatch(/^✓ database: /m);
    expect(stdout).toMatch(/^✓ tables: /m);
    expect(stdout).toMatch(/^✗ .*AFFILIATE_API_URL is not set/m);
    expect(stdout).toMatch(/^✗ .*AFFILIATE_API_SECRET is not set/m);
  });

  test('fails on a wrong secret and on missing tables, both at once', async () => {
    const { code, stdout } = await run(['doctor'], configured({ MIRROR_SCHEMA: 'untouched' }));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ tables: .*affiliate-mirror migrate/m);
    expect(stdout).toMatch(/^✗ program: .*AFFILIATE_API_SECRET/m);
    expect(lastLine(stdout)).toMatch(/^\d+ checks, 2 failed$/);
  });

  test('fails on a malformed variable', async () => {
    const { code, stdout } = await run(['doctor'], configured({ LOG_LEVEL: 'loud', MIRROR_SCHEMA: 'No' }));
    expect(code).toBe(2);
    expect(stdout).toMatch(/^✗ configuration: LOG_LEVEL /m);
    expect(stdout).toMatch(/^✗ configuration: MIRROR_SCHEMA /m);
    expect(lastLine(stdout)).toBe('1 check, 1 failed with 2 problems');
  });

  test('names what is missing together with what is malformed, since nothing else is checked then', async () => {
    const { code, stdout } = await run(['doctor'], { DATABASE_URL: database.url, LOG_LEVEL: 'loud' });
    expect(code).toBe(2);
    for (const variable of ['LOG_LEVEL', 'AFFILIATE_API_URL', 'AFFILIATE_API_SECRET']) {
      expect(stdout.match(new RegExp(`^✗ configuration: ${variable} `, 'gm')), variable).toHaveLength(1);
    }
  });

  test('fails on misspelt variables with the nearest names, and leaves those of other programs alone', async () => {
    const { code, stdout } = await run(['doctor'], {
      ...configured({ MIRROR_SCHEMA: 'untouched', ...MISSPELT }),
      API_KEY: "another program's",
      PIIGEON: 'coos',
      ASYNC_MODE: "another program's",
      AFFILIATE_MIRROR_SERVICE_HOST: '10.0.0.1',
      AFFILIATE_MIRROR_PORT_8080_TCP_ADDR: '10.0.0.1',
    });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^✓ configuration: /m);
    expect(stdout.split('\n').filter((line) => line.startsWith('✗ unknown variables: '))).toEqual([
      '✗ unknown variables: AFFILIATE_AMOUNT_UNITS is not a variable of affiliate-mirror: the nearest is AFFILIATE_AMOUNT_UNIT',
      '✗ unknown variables: API_TIMEOUT is not a variable of affiliate-mirror: the nearest is API_TIMEOUT_MS',
      '✗ unknown variables: PII_MODE is not a variable of affiliate-mirror: the nearest is PII',
      '✗ unknown variables: RETENTION_HISTORY_DAY is not a variable of affiliate-mirror: the nearest is RETENTION_HISTORY_DAYS',
      '✗ unknown variables: SYCN_FULL_CRON is not a variable of affiliate-mirror: the nearest is SYNC_FULL_CRON',
    ]);
    // The rest is looked at all the same.
    expect(stdout).toMatch(/^✗ tables: /m);
  });

  test('fails where no certificate is checked, and names the proxy without its password', async () => {
    const { code, stdout } = await run(
      ['doctor'],
      configured({
        MIRROR_SCHEMA: 'untouched',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        https_proxy: 'http://user:hidden@proxy.example:3128',
        no_proxy: 'localhost,10.0.0.0/8',
      }),
    );
    expect(code).toBe(2);
    expect(stdout).toMatch(/^✗ certificates: NODE_TLS_REJECT_UNAUTHORIZED is 0: .* Unset it/m);
    expect(stdout).toContain(
      '✓ proxy: requests to https:// addresses go through http://proxy.example:3128\n',
    );
    expect(stdout).not.toContain('hidden');
  });

  test('finds all well where all is well, with seven requests', async () => {
    const before = sandbox.requests.length;
    await run(['migrate'], { DATABASE_URL: database.url });
    const { code, stdout } = await run(
      ['doctor'],
      configured({ AFFILIATE_API_SECRET: 'sandbox-secret' }),
      runCliAlone,
    );
    expect(stdout).toMatch(/^✓ program: .* 60 affiliates$/m);
    expect(stdout).not.toContain('✗');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ campaigns: the program does not list them/m);
    expect(stdout).toMatch(/^✓ commissions: the program does not list them/m);
    // Two for each list show that the 404 for it is the program's.
    expect(sandbox.requests.length - before).toBe(7);
  });
});

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
