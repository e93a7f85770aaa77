// What the queue does about each class of error, and how its waits grow.

import fc from 'fast-check';
import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import * as catalogue from '../../../src/base/errors.ts';
import { backoffMs, decideAfterFailure } from '../../../src/worker/queue/failure.ts';
import { TIMINGS } from '../../../src/worker/queue/timings.ts';
import { makeRefusal } from '../../api/make-refusal.ts';

const { ApiThrottled } = catalogue;

function databaseError(code: string): Error {
  return Object.assign(new DatabaseError('refused', 7, 'error'), { severity: 'ERROR', code });
}

test.each([
  [
    'a secret that is refused',
    new catalogue.ApiUnauthorized('401'),
    expect.objectContaining({ kind: 'refused' }),
  ],
  ['another account', new catalogue.ProgramChanged('other'), expect.objectContaining({ kind: 'refused' })],
  ['a 429 that names a moment', new ApiThrottled('429', 1234), { kind: 'wait', waitMs: 1234 }],
  ['a 429 that names none', new ApiThrottled('429', null), { kind: 'wait', waitMs: 30_000 }],
  ['a program that cannot be reached', new catalogue.ApiUnreachable('away'), { kind: 'retry' }],
  ['a program that fails', new catalogue.ApiUnavailable('503', 503), { kind: 'retry' }],
  ['an answer that is no answer', new catalogue.ContractViolation('html'), { kind: 'retry' }],
  ['a write whose fate is unknown', new catalogue.WriteOutcomeUnknown('reset'), { kind: 'retry' }],
  ['a request that the program refuses', makeRefusal('422', 422), { kind: 'fail' }],
  ['one that something in front of it refuses', makeRefusal('404', 404, false), { kind: 'retry' }],
  ['tables that do not fit', new catalogue.SchemaMismatch('old'), { kind: 'fail' }],
  [
    'a mirror that was switched',
    new catalogue.PersonalDataMismatch('hash'),
    { kind: 'wait', waitMs: 30_000 },
  ],
  ['a run that another process took over', new catalogue.Busy('taken over'), { kind: 'retry' }],
  ['a database that is away', new catalogue.DatabaseUnreachable('away'), { kind: 'retry' }],
  ['a database that shuts down', databaseError('57P01'), { kind: 'retry' }],
  ['a deadlock', databaseError('40P01'), { kind: 'retry' }],
  ['a transaction that may only read', databaseError('25006'), { kind: 'retry' }],
  ['a transaction that idled', databaseError('25P03'), { kind: 'retry' }],
  ['a right that is missing', databaseError('42501'), { kind: 'fail' }],
  ['a statement that is wrong', databaseError('42703'), { kind: 'fail' }],
  ['a pipe that broke', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }), { kind: 'retry' }],
  ['an error of no known class', new Error('Connection terminated unexpectedly'), { kind: 'retry' }],
  ['a bug', new TypeError('x is not a function'), { kind: 'fail' }],
  ['what is no error', 'text', { kind: 'retry' }],
])('%s', (_what, error, decision) => {
  expect(decideAfterFailure(error, TIMINGS)).toEqual(decision);
});

test('no backoff is longer than the longest, nor than twice the one before may be', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (made, chance) => {
        const ms = backoffMs(made, TIMINGS, () => chance);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(
          Math.min(TIMINGS.longestBackoffMs, TIMINGS.firstBackoffMs * 2 ** (made - 1)),
        );
      },
    ),
    {
      // The first and the last, without and with all of the chance, and where 2 ** n leaves 32 bits.
      examples: [
        [1, 0],
        [1, 0.999],
        [31, 0.999],
        [32, 0.999],
        [1000, 0.999],
      ],
    },
  );
});
