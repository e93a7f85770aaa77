// When the watchdog looks: after its rest, or when somebody asks, and never twice at once.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makePacer } from '../../src/queue/pacer.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function pacing({ takesMs = 0, restMs = 1000 } = {}) {
  const looks: number[] = [];
  const beganMs = performance.now();
  const pacer = makePacer(async () => {
    looks.push(performance.now() - beganMs);
    if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
    return restMs;
  });
  return { looks, pacer };
}

test('looks after its rest, again and again, until it is stopped', async () => {
  const { looks, pacer } = pacing();
  pacer.start(500);
  await vi.advanceTimersByTimeAsync(2600);
  await pacer.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(looks).toEqual([500, 1500, 2500]);
});

test('looks at once when it is asked, and a moment later however often it is asked', async () => {
  const { looks, pacer } = pacing();
  pacer.start(500);
  await vi.advanceTimersByTimeAsync(200);
  for (let asked = 0; asked < 5; asked += 1) {
    pacer.askNow();
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(500);
  expect(looks).toEqual([200, 300]);
});

test('looks once more after a look that was under way when it was asked, and not beside it', async () => {
  const { looks, pacer } = pacing({ takesMs: 400 });
  pacer.start(100);
  await vi.advanceTimersByTimeAsync(200);
  pacer.askNow();
  pacer.askNow();
  await vi.advanceTimersByTimeAsync(800);
  expect(looks).toEqual([100, 600]);
});

test('is stopped once the look that is under way has ended', async () => {
  const { looks, pacer } = pacing({ takesMs: 400 });
  pacer.start(0);
  await vi.advanceTimersByTimeAsync(100);
  let isStopped = false;
  const stopping = pacer.stop().then(() => {
    isStopped = true;
  });
  pacer.askNow();
  await vi.advanceTimersByTimeAsync(200);
  expect(isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(2000);
  await stopping;
  expect(looks).toEqual([0]);
});
