// What a log event is like on a terminal. Without one it is NDJSON, which other tests read.

import { expect, test } from 'vitest';
import { describeError } from '../../src/base/describe-error.ts';
import { ApiUnreachable } from '../../src/base/errors.ts';
import { makeLogger } from '../../src/base/log.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

function linesOf(log: (logger: ReturnType<typeof makeLogger>) => void, hasColors = false): string[] {
  const { stderr } = fakeTerminal(80, {}, hasColors);
  log(makeLogger('info'));
  return stderr.join('').trimEnd().split('\n');
}

test('an event is one line, whatever it carries', () => {
  const lines = linesOf((log) => {
    log.warn({ why: 'two\nlines', at: { depth: { of: [1, 2] } } }, 'api.request_retried');
    log.info('worker.stopping');
  });
  expect(lines).toEqual([
    expect.stringMatching(
      /^\[\d\d:\d\d:\d\d\] WARN: api\.request_retried \{"why":"two\\nlines","at":\{"depth":/,
    ),
    expect.stringMatching(/ INFO: worker\.stopping$/),
  ]);
});

test.each([
  ['of the catalogue', new ApiUnreachable('no answer'), 'API_UNREACHABLE'],
  [
    'of the network',
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    'ECONNREFUSED',
  ],
  ['of the database', Object.assign(new Error('terminating connection'), { code: '57P01' }), '57P01'],
])('an error %s is a sentence in that line', (_, error, code) => {
  const lines = linesOf((log) => log.error({ err: error }, 'failed'));
  expect(lines).toEqual([expect.stringContaining(`"err":"${describeError(error)} (${code})"`)]);
});

test('an error that nobody foresaw shows where it comes from', () => {
  const text = linesOf((log) => log.error({ err: new TypeError('a bug') }, 'failed')).join('\n');
  expect(text).toContain('a bug');
  expect(text).toContain('log.unit.test.ts');
});

test.each([
  'password',
  'piiPassword',
  'authorization',
  'secretAccessKey',
  'AFFILIATE_API_SECRET',
  'ALERT_WEBHOOK_URL',
])('a secret is not shown where its field is called %s', (name) => {
  const field = { [name]: 'hunter2' };
  const text = linesOf((log) => log.info({ ...field, at: field, deep: { at: field } }, 'x')).join('\n');
  expect(text.match(/\[secret\]/g)).toHaveLength(3);
  expect(text).not.toContain('hunter2');
});

test('what a terminal obeys instead of showing it has a mark in its place', () => {
  const [line] = linesOf((log) => log.warn({ field: 'a\u009B31mb\u202Ec\u001B[31md' }, 'x'), true);
  expect(line).toContain('"field":"a\uFFFD31mb\uFFFDc\\u001b[31md"');
});
