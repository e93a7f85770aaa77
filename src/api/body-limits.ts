// How much of an answer is taken. What is beyond that is no page, and would cost a worker all of its memory, or keep it
// busy for long: payments, the status page and everything else would wait with it.

import { ESCAPES } from './scrub.ts';

/**
 * A full page of the largest records (100 referrals with their affiliates) is about 120 KB; more than a hundred
 * times that cannot be a page, and reading on would only fill the memory.
 */
export const LARGEST_BODY_BYTES = 16 * 1024 * 1024;

/** A body of at most so many bytes does no harm, whatever is in it. */
const SMALL_BYTES = 256 * 1024;
/** Parsed, 16 MB of `[` take 1.5 GB, and of `{},` a quarter. A page of links has an object for every 200 bytes. */
const MOST_CONTAINERS = 200_000;
/** At each, the secret could begin: 16 MB of backslashes are searched for it for 13 seconds. */
const MOST_ESCAPES = 1_000_000;

const BEGINS_CONTAINER = tableOf('[{');
const BEGINS_ESCAPE = tableOf(ESCAPES.join(''));

/** Returns why the body is not to be read; null where it may be. What is within strings counts as well. */
export function findExcess(bytes: Buffer): string | null {
  if (bytes.length <= SMALL_BYTES) return null;
  if (count(bytes, BEGINS_CONTAINER) > MOST_CONTAINERS) {
    return `a body with more than ${MOST_CONTAINERS} objects and lists`;
  }
  return count(bytes, BEGINS_ESCAPE) > MOST_ESCAPES ? `a body with more than ${MOST_ESCAPES} escapes` : null;
}

/** Returns, for each byte, 1 where it is one of the characters, and else 0. */
function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

function count(bytes: Buffer, table: Uint8Array): number {
  let found = 0;
  for (let at = 0; at < bytes.length; at += 1) found += table[bytes[at] as number] as number;
  return found;
}
