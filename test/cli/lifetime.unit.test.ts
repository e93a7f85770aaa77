import { describe, expect, test } from 'vitest';
import { Stopped, withLifetime } from '../../src/cli/lifetime.ts';

test('what was opened last is closed first, also where the work and a closer fail', async () => {
  const closed: string[] = [];
  const failure = new Error('the work failed');
  const life = withLifetime(async ({ onClose }) => {
    onClose(async () => closed.push('first'));
    onClose(async () => {
      closed.push('second');
      throw new Error('closing failed');
    });
    onClose(async () => closed.push('third'));
    throw failure;
  });
  await expect(life).rejects.toBe(failure);
  expect(closed).toEqual(['third', 'second', 'first']);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const)('%s aborts the work, and the same signal twice at once counts once', async (signal, exitCode) => {
  const life = withLifetime(async (lifetime) => {
    process.emit(signal, signal);
    process.emit(signal, signal);
    lifetime.signal.throwIfAborted();
    return 0;
  });
  const error = await life.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Stopped);
  expect(error).toMatchObject({ exitCode });
});

describe('work that may be cut off anywhere', () => {
  test('is cut off by the first signal, and ends as stopped whatever error it ends in', async () => {
    const life = withLifetime(async ({ onStop }) => {
      const cut = Promise.withResolvers<0>();
      onStop(() => cut.reject(new Error('the connection is closed')));
      process.emit('SIGTERM', 'SIGTERM');
      return cut.promise;
    });
    await expect(life).rejects.toThrow(new Stopped('SIGTERM'));
  });

  test('may say how far it came', async () => {
    const life = withLifetime(async ({ signal, onStop }) => {
      onStop(() => {});
      process.emit('SIGINT', 'SIGINT');
      throw signal.reason.saying('half of it');
    });
    await expect(life).rejects.toThrow('stopped by Ctrl-C: half of it');
  });

  test('keeps the error of its own that comes before a signal', async () => {
    const failure = new Error('the work failed');
    const life = withLifetime(async ({ onStop, onClose }) => {
      onStop(() => {});
      onClose(async () => process.emit('SIGTERM', 'SIGTERM'));
      throw failure;
    });
    await expect(life).rejects.toBe(failure);
  });
});

test('nothing listens to signals when the life is over', async () => {
  const before = process.listenerCount('SIGINT');
  await withLifetime(async () => 0);
  expect(process.listenerCount('SIGINT')).toBe(before);
});
