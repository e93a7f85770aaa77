// What a queue on Postgres says where it cannot be reached.

import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { openQueueServer } from '../../src/queue/queue-server.ts';

test.each([
  ['53300', /does not answer: no connection is left for this role: raise max_connections/],
  ['57P01', /does not answer: check that Postgres runs$/],
])('an error %s is unreachable, with what to do about that one', async (code, message) => {
  const settings = { redisUrl: null, databaseUrl: 'postgres://127.0.0.1:9/none', mirrorSchema: 'mirror' };
  const server = await openQueueServer(settings, 'id', () => undefined);
  const error = server.asUnreachable(Object.assign(new DatabaseError('refused', 0, 'error'), { code }));
  expect(error).toMatchObject({ code: 'DB_UNREACHABLE', message: expect.stringMatching(message) });
  await server.end();
});
