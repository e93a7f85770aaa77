// Waiting for Ctrl-C, for the commands that stay up until then.

/** Resolves when the signal aborts, and keeps the process alive until it does. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A listener for a signal keeps no process alive by itself.
  const alive = setInterval(() => {}, 2 ** 30);
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearInterval(alive);
}
