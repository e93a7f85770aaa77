// What a queue on Postgres says where it cannot be reached.

import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { postgresUnreachable } from '../../../src/worker/queue/postgres-backend.ts';

test.each([
  ['53300', /does not answer: no connection is left for this role: raise max_connections/],
  ['57P01', /does not answer: check that Postgres runs$/],
])('an error %s is unreachable, with what to do about that one', (code, message) => {
  const failure = Object.assign(new DatabaseError('refused', 0, 'error'), { code });
  const error = postgresUnreachable(failure, 'mirror_queue');
  expect(error).toMatchObject({ code: 'DB_UNREACHABLE', message: expect.stringMatching(message) });
});
