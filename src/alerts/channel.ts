// What a way to send messages is.

import type { Message } from './message.ts';
import type { ChannelKind } from './outbox.ts';

export interface Channel {
  readonly kind: ChannelKind;
  /** The receiver's host, and how many read there: what may be printed of it. */
  readonly name: string;
  /**
   * Sends the message, and once its receiver has accepted it, returns what is wrong all the same, or null. Called right
   * before its first byte leaves, `mayLeave` says whether it still may; a signal stops what has not left by then.
   *
   * Throws: AlertNotSent; RequestWithheld where it might not leave; the signal's reason.
   */
  send(message: Message, control: SendControl): Promise<string | null>;
}

/** Thrown where a receiver takes longer than `timeoutMs`. */
export class ReceiverTimedOut extends Error {
  readonly code = 'ETIMEDOUT';
}

export interface SendControl {
  readonly mayLeave: () => boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}
