// What a command of many programs does where one of them fails, and where it is stopped.

import { expect, test } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { Stopped } from '../../src/cli/lifetime.ts';
import { workOnEach, worstOf } from '../../src/cli/many-programs.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

const NEVER = new AbortController().signal;
const LISTED = ['acme', 'beta', 'gamma'].map((name) => ({ name }));

test('the most severe exit code is the command’s: a failure, then bad usage, doubts, what is not well, what is left', () => {
  expect(worstOf([])).toBe(0);
  expect(worstOf([0, 4, 5, 3, 2, 1])).toBe(1);
  expect(worstOf([4, 5])).toBe(5);
  expect(worstOf([5, 3])).toBe(3);
  expect(worstOf([1, 143])).toBe(143);
});

test('a listed program that fails is named, and the others are worked on', async () => {
  const { stderr } = fakeTerminal(Number.POSITIVE_INFINITY);
  const { exitCode, results } = await workOnEach(LISTED, { signal: NEVER }, async ({ name }) => {
    if (name === 'beta') throw new ConfigError(['it is wrong']);
    return { exitCode: name === 'gamma' ? 3 : 0, document: name };
  });
  expect(exitCode).toBe(2);
  expect(stderr.join('')).toBe('affiliate-mirror: beta: it is wrong\n');
  expect(results.map(({ worked, failure }) => worked?.document ?? failure)).toEqual([
    'acme',
    { code: 'CONFIG_INVALID', message: 'it is wrong' },
    'gamma',
  ]);
});

test('the error of the program that the environment describes is thrown', async () => {
  const error = new ConfigError(['it is wrong']);
  await expect(workOnEach([{ name: null }], { signal: NEVER }, () => Promise.reject(error))).rejects.toBe(
    error,
  );
});

test('a stop ends the programs at work, and begins none', async () => {
  const { stderr } = fakeTerminal(Number.POSITIVE_INFINITY);
  const controller = new AbortController();
  const { exitCode } = await workOnEach(LISTED, { signal: controller.signal }, async () => {
    controller.abort(new Stopped('SIGTERM'));
    throw new Error('its connection was closed');
  });
  expect(exitCode).toBe(143);
  expect(stderr.join('')).toBe(
    'affiliate-mirror: acme: stopped by SIGTERM\naffiliate-mirror: stopped before 2 of 3 programs\naffiliate-mirror: stopped by SIGTERM\n',
  );
});
