// Puts a time limit on a wait that has none of its own: a call to a Redis that is away only ends once it is back.

/** Thrown where something took longer than anybody waits for it. */
export class NoAnswer extends Error {}

/** Returns what the promise resolves to. Throws: NoAnswer where that takes longer than `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoAnswer(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
