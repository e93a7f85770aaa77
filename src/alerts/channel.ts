// What a way to send messages is.

import type { Message } from './message.ts';
import type { ChannelKind } from './outbox.ts';

export interface Channel {
  readonly kind: ChannelKind;
  /** The receiver's host, and how many read there: what may be printed of it. */
  readonly name: string;
  /**
   * Sends the message, and once its receiver has accepted it, returns what is wrong all the same, or null. When the
   * signal aborts, the receiver did not answer in time.
   *
   * Throws: AlertNotSent.
   */
  send(message: Message, signal: AbortSignal): Promise<string | null>;
}

/** What a connection fails with before anything is sent over it. */
const NOTHING_SENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETLS',
  'EAUTH',
];

/** Returns whether a message may have arrived all the same. */
export function mayHaveArrived(code: string): boolean {
  return !NOTHING_SENT.includes(code);
}
