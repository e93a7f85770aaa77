// The requests that the sandbox received, without credentials and bodies, so that a test can count them and measure
// windows of the limit.

/** The oldest beyond this many are dropped. */
const REMEMBERED_REQUESTS = 10_000;

export interface ReceivedRequest {
  /** 1 for the first request since the start. */
  readonly number: number;
  readonly method: string;
  /** The address without its host. */
  readonly url: string;
  /** Milliseconds since 1970, from a monotonic clock. */
  readonly receivedAt: number;
  /** Of the answer; null until then, and if a fault left no answer. */
  status: number | null;
  /** The fault that spoiled the answer. */
  fault: string | null;
}

export interface ReceivedRequests {
  /** Oldest first. */
  readonly all: readonly ReceivedRequest[];
  add(method: string, url: string): ReceivedRequest;
}

export function makeReceivedRequests(): ReceivedRequests {
  const all: ReceivedRequest[] = [];
  let number = 0;
  return {
    all,
    add(method, url) {
      number += 1;
      const receivedAt = performance.timeOrigin + performance.now();
      const received: ReceivedRequest = { number, method, url, receivedAt, status: null, fault: null };
      all.push(received);
      if (all.length > REMEMBERED_REQUESTS) all.shift();
      return received;
    },
  };
}
