import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { readConfig, readProgramConfig } from '../../src/config/config.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { makeDirectory } from '../support/directory.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readProgramConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('a malformed variable does not hide a missing one, and each is named once', () => {
  const problems = problemsOf({ AFFILIATE_API_URL: 'nonsense', LOG_LEVEL: 'loud' });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'AFFILIATE_API_SECRET',
    'AFFILIATE_API_URL',
    'LOG_LEVEL',
  ]);
});

test('what variables need of each other is reported together with what is malformed', () => {
  const problems = problemsOf({
    LOG_LEVEL: 'loud',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere',
    OTEL_EXPORTER_OTLP_HEADERS: 'no pairs',
    EXPORT_CRON: '0 3 * * *',
    AWS_ACCESS_KEY_ID: 'key',
    ALERT_EMAIL: 'ops@example.com',
    ALERT_WEBHOOK_URL: 'nowhere',
  });
  expect(problems.map((problem) => problem.split(' ')[0]).toSorted()).toEqual([
    'AFFILIATE_API_SECRET',
    'AFFILIATE_API_URL',
    'ALERT_EMAIL',
    'ALERT_WEBHOOK_URL',
    'AWS_SECRET_ACCESS_KEY',
    'EXPORT_TARGET',
    'LOG_LEVEL',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ]);
});

test('a default is what it would be read as, if somebody wrote it', () => {
  const written = VARIABLES.flatMap(({ name, default: shown }) => {
    const [, text] = /^`(.*)`$/.exec(shown) ?? [];
    return text === undefined ? [] : [[name, text]];
  });
  expect(Object.fromEntries(written)).toHaveProperty('SYNC_FULL_CRON');
  expect(readConfig(Object.fromEntries(written))).toEqual(readConfig({}));
});

test('with both variables, it returns the program', () => {
  const environment = { AFFILIATE_API_URL: 'https://program.example/', AFFILIATE_API_SECRET: 's3cret' };
  expect(readProgramConfig(environment).program.address).toEqual({
    url: 'https://program.example',
    secret: 's3cret',
    rereadSecret: expect.any(Function),
    proxy: null,
  });
});

test('the secret is read again from its file, and is none while that holds none', async () => {
  const directory = await makeDirectory();
  const file = join(directory, 'secret');
  await writeFile(file, 'first\n');
  const { address } = readProgramConfig({
    AFFILIATE_API_URL: 'https://program.example',
    AFFILIATE_API_SECRET: '',
    AFFILIATE_API_SECRET_FILE: file,
  }).program;
  expect(address.secret).toBe('first');
  await writeFile(file, 'second\n');
  expect(address.rereadSecret?.()).toBe('second');
  await writeFile(file, '');
  expect(address.rereadSecret?.()).toBeNull();
  await rm(file);
  expect(address.rereadSecret?.()).toBeNull();
});

test.each(['https://program.example?', 'https://program.example/#', 'https://program.example/?a=b'])(
  'the address %s is refused: what is asked for would be a part of its query',
  (url) => {
    expect(problemsOf({ AFFILIATE_API_URL: url, AFFILIATE_API_SECRET: 's3cret' })).toEqual([
      'AFFILIATE_API_URL must not hold a query or a fragment',
    ]);
  },
);

describe('quotation marks that an env file of Docker leaves around a value', () => {
  const says = (name: string) =>
    `${name} begins and ends with a quotation mark, which counts as part of the value (docker run --env-file keeps it): leave both out`;

  test.each([...VARIABLES.map(({ name }) => name), 'PGPASSWORD', 'PGSSLMODE'])(
    'are refused in %s',
    (name) => {
      expect(problemsOf({ [name]: '"value"' })).toContain(says(name));
    },
  );

  test.each([`"half`, `"other'`, `"`, `a "b"`])('a value such as %s is left as it is', (secret) => {
    expect(
      problemsOf({ AFFILIATE_API_URL: 'https://program.example', STATUS_PASSWORD: `${secret}1234567` }),
    ).toEqual([
      "AFFILIATE_API_SECRET is not set (nor AFFILIATE_API_SECRET_FILE): give the API secret, which is found in the account's company settings",
    ]);
  });

  test('are nothing to us in a variable of another program', () => {
    expect(() => readConfig({ LS_OPTIONS: '"--color"' })).not.toThrow();
  });
});
