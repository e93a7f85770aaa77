import { expect, test } from 'vitest';
import { readProgramConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/errors.ts';

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

test('with both variables, it returns the program', () => {
  const environment = { AFFILIATE_API_URL: 'https://program.example/', AFFILIATE_API_SECRET: 's3cret' };
  expect(readProgramConfig(environment).program).toEqual({
    url: 'https://program.example',
    secret: 's3cret',
    proxy: null,
    quotesAnswers: true,
  });
  expect(readProgramConfig({ ...environment, PII: 'omit' }).program.quotesAnswers).toBe(false);
});
