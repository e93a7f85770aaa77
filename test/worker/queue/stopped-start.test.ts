// A worker that is stopped while it starts.

import { expect, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makeQueueing } from './queueing.ts';
import { serveOne } from './serve-one.ts';

const NO_PROGRAM = { url: 'http://127.0.0.1:9' };

test('a worker that is to stop does not wait for a program that does not answer', async () => {
  const { db, settings } = await makeQueueing('postgres', NO_PROGRAM);
  const stop = new AbortController();
  const probe = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      stop.abort(new Error('stopped'));
    });
  const starting = serveOne(
    { db, log: makeLogger('fatal'), probe },
    { queue: settings, sources: [], signal: stop.signal },
  );
  await expect(starting).rejects.toThrow('stopped');
});
