import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { countEvery, EVERY_SECOND, makeProgram, makeQueueing } from './queueing.ts';

/** By then BullMQ waits for its next job on the connection that is lost. */
const LONG_AWAY_MS = 3000;

test('a worker whose Redis has been away for a while stops without waiting for it', async () => {
  const queueing = await makeQueueing('redis', await makeProgram());
  const worker = await queueing.start({ counts: [countEvery('a', EVERY_SECOND)] });
  await queueing.redis?.stop();
  await worker.says('queue.failed');
  await sleep(LONG_AWAY_MS);
  // 1 where it waited for its deadline.
  expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
});
