// What a user's mistakes look like from the outside: one clear message, the right exit code, and nothing of the
// secret. (All that a command line alone can get wrong: wrong-usages.test.ts.)

import type { Command } from 'commander';
import { afterEach, describe, expect, test } from 'vitest';
import { loadProgram } from '../../src/cli/run-cli.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { type CliRun, runCli, runCliAlone } from '../support/run-cli.ts';

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const SECRET = 'this-must-never-be-seen';

const runs: CliRun[] = [];

const database = await createTestDatabase();
const sandbox = await runSandbox(database.pool);

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
});

const MISSPELT = {
  PII_MODE: 'hash',
  RETENTION_HISTORY_DAY: '30',
  AFFILIATE_AMOUNT_UNITS: 'cent',
  API_TIMEOUT: '5',
  SYCN_FULL_CRON: '0 3 * * *',
};
const WARNINGS = [
  ['AFFILIATE_AMOUNT_UNITS', 'AFFILIATE_AMOUNT_UNIT'],
  ['API_TIMEOUT', 'API_TIMEOUT_MS'],
  ['PII_MODE', 'PII'],
  ['RETENTION_HISTORY_DAY', 'RETENTION_HISTORY_DAYS'],
  ['SYCN_FULL_CRON', 'SYNC_FULL_CRON'],
].map(([name, nearest]) => `${name} is not a variable of affiliate-mirror: the nearest is ${nearest}`);

/** Those whose output the shell or a file reads, and that read no configuration. */
const WITHOUT_CONFIGURATION = ['commissions template'];
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
    } else {
      expect(warnings).toEqual(WARNINGS);
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
    expect(stdout.split('\n').filter((line) => line.startsWith('✗ unknown variables: '))).toEqual(
      WARNINGS.map((warning) => `✗ unknown variables: ${warning}`),
    );
    // The rest is looked at all the same.
    expect(stdout).toMatch(/^✗ tables: /m);
  });

  test('fails where no certificate is checked', async () => {
    const { code, stdout } = await run(
      ['doctor'],
      configured({
        MIRROR_SCHEMA: 'untouched',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      }),
    );
    expect(code).toBe(2);
    expect(stdout).toMatch(/^✗ certificates: NODE_TLS_REJECT_UNAUTHORIZED is 0: .* Unset it/m);
  });

  test('finds all well where all is well, with five requests', async () => {
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
    expect(stdout).toMatch(/^✓ campaigns: the API does not list them/m);
    expect(stdout).toMatch(/^✓ commissions: the API does not list them/m);
    // Two for each list show that the 404 for it is the program's.
    expect(sandbox.requests.length - before).toBe(5);
  });
});

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
