// How much of an answer is taken. What is beyond that is no page, and would cost a worker all of its memory, or keep it
// busy for long: payments, the status page and everything else would wait with it.

/**
 * A full page of the largest records (100 referrals with their affiliates) is about 120 KB; more than a hundred
 * times that cannot be a page, and reading on would only fill the memory.
 */
export const LARGEST_BODY_BYTES = 16 * 1024 * 1024;

/** A body of at most so many bytes does no harm, whatever is in it. */
const SMALL_BYTES = 256 * 1024;
/** Parsed, 16 MB of `[` take 1.5 GB, and of `{},` a quarter. A page of links has an object for every 200 bytes. */
const MOST_CONTAINERS = 200_000;

const [OPENS_LIST, OPENS_OBJECT] = Buffer.from('[{');

/** Returns why the body is not to be read; null where it may be. What is within strings counts as well. */
export function findExcess(bytes: Buffer): string | null {
  if (bytes.length <= SMALL_BYTES) return null;
  let containers = 0;
  for (const byte of bytes) if (byte === OPENS_LIST || byte === OPENS_OBJECT) containers += 1;
  return containers > MOST_CONTAINERS ? `a body with more than ${MOST_CONTAINERS} objects and lists` : null;
}
