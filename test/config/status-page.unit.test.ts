// Who may look at the status page: what is accepted of its variables, and what is refused, all together.

import { expect, test } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { readConfig } from '../../src/config/config.ts';

const SERVED = { servesPage: true };

test.each(['127.0.0.1', 'localhost', '::1', '127.1.2.3'])('a page at %s needs none', (host) => {
  expect(readConfig({ STATUS_HOST: host }, SERVED).process.status.password).toBeNull();
});

test.each(['0.0.0.0', '::', '192.0.2.1', 'mirror.example', '::ffff:127.0.0.1'])(
  'a page at %s needs one, for whoever serves it',
  (host) => {
    expect(() => readConfig({ STATUS_HOST: host }, SERVED)).toThrow(`STATUS_HOST is ${host}, where others`);
    expect(() => readConfig({ STATUS_HOST: host })).not.toThrow();
    expect(() => readConfig({ STATUS_HOST: host, STATUS_PASSWORD: 'opens-the-page' }, SERVED)).not.toThrow();
  },
);

test.each([
  [{ STATUS_PASSWORD: 'short' }, 'STATUS_PASSWORD holds a password of less than 8 characters'],
  [{ STATUS_PII_PASSWORD: ' padded ' }, 'STATUS_PII_PASSWORD holds a password of less than 8 characters'],
  [{ STATUS_PASSWORD: 'two\nlines here' }, 'STATUS_PASSWORD holds a password that no browser can send'],
  [
    { STATUS_PASSWORD: 'opens-the-page', STATUS_PII_PASSWORD: 'opens-the-page' },
    'STATUS_PII_PASSWORD is the same',
  ],
  [{ STATUS_BASE_PATH: 'affiliates' }, 'STATUS_BASE_PATH must be a path such as /affiliates'],
  [{ STATUS_BASE_PATH: '/a/../b' }, 'STATUS_BASE_PATH must be a path without'],
  [{ METRICS: 'public' }, 'METRICS must be guarded or open'],
])('%j is refused: %s', (environment, problem) => {
  expect(() => readConfig(environment)).toThrow(problem);
});

test('no message holds a password', () => {
  const environment = { STATUS_PASSWORD: 'hunter2', STATUS_PII_PASSWORD: 'same-as-this', STATUS_PORT: 'x' };
  expect(() => readConfig(environment)).toThrow(/^(?![\s\S]*(hunter2|same-as-this))/);
});

test('a STATUS_HOST that is no address is one problem, not an open page as well', () => {
  expect(() => readConfig({ STATUS_HOST: 'a b' }, SERVED)).toThrow(
    new ConfigError(['STATUS_HOST must be an address or the name of a host']),
  );
});

test.each([
  ['/', ''],
  ['/affiliates/', '/affiliates'],
  ['/a/b', '/a/b'],
])('the base path %s begins every address as %j', (given, expected) => {
  expect(readConfig({ STATUS_BASE_PATH: given }).process.status.basePath).toBe(expected);
});
