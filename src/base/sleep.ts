// Waits that end with the signal's own reason: Node's end with an AbortError that hides it.

import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after `ms` milliseconds. Throws: the signal's reason as soon as it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
export async function sleepOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
