// The bytes of an answer's body: put together, and read as text or JSON. Knows nothing of what they say.

/** One for all bodies, since each is read in one go: a fresh one for each left 30 MB of garbage at any time. */
let joined = Buffer.alloc(0);

/** Gives back the chunks in one piece, which is good until the next call. */
export function joinChunks(chunks: readonly Buffer[]): Buffer {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  if (joined.length < size) joined = Buffer.alloc(size);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(joined, at);
  return joined.subarray(0, size);
}

/**
 * Gives back the bytes as text.
 *
 * Throws: TypeError where they are no UTF-8. Replacing what is none would store damaged names as if they were the
 * program's.
 */
export function decodeText(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/**
 * Gives back the JSON that the bytes are.
 *
 * Throws: SyntaxError where they are none; TypeError where they are no UTF-8.
 */
export function parseJson(bytes: Buffer): unknown {
  return JSON.parse(decodeText(bytes));
}
