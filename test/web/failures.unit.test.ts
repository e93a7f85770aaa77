// What is shown for each kind of failure of a page.

import { expect, test } from 'vitest';
import { AccessRefused, DatabaseUnreachable } from '../../src/base/errors.ts';
import { NoAnswer } from '../../src/base/within.ts';
import { describeFailure } from '../../src/web/failures.ts';

const withCode = (code: string) => Object.assign(new Error('a detail'), { code });

test.each([
  [new DatabaseUnreachable('away'), 503, 'The database does not answer'],
  [new NoAnswer('late'), 503, 'The database does not answer'],
  [withCode('ECONNREFUSED'), 503, 'The database does not answer'],
  [withCode('55000'), 503, 'The database does not answer'],
  [withCode('3D000'), 503, 'The database does not answer'],
  [withCode('28P01'), 503, 'The database does not answer'],
  [withCode('57014'), 503, 'The database does not answer'],
  [new AccessRefused('no'), 503, 'The database refuses this role'],
  [withCode('42P01'), 503, 'The tables are not there yet'],
  [withCode('42601'), 500, 'This view failed'],
  [new TypeError('a mistake'), 500, 'This view failed'],
  [withCode('ERR_INVALID_ARG_TYPE'), 500, 'This view failed'],
])('%s is %i, "%s"', (error, status, title) => {
  const failure = describeFailure(error);
  expect(failure).toMatchObject({ status, title });
  expect(failure.text).not.toContain('a detail');
  // Whoever asks again soon may have the page then.
  expect(failure.headers?.['retry-after']).toBe(status === 503 ? '5' : undefined);
});
