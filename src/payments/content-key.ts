// The idempotency key of a request that was given none. Pure.

import { createHash } from 'node:crypto';

/** Returns the key, made of what the request asks for. Its form is known to ask_for_updates(). */
export function keyOf(content: readonly unknown[]): string {
  return `row:${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 40)}`;
}
