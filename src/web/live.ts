// Tells open pages that something changed, over server-sent events: one poll of the database for all of them, and none
// where nobody looks.

import type { ServerResponse } from 'node:http';
import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';

export interface Live {
  /** Keeps the answer open, and writes to it until it is closed. Returns false where too many are open already. */
  listen(response: ServerResponse): boolean;
  /** Ends every answer. */
  close(): void;
}

export interface LiveTimings {
  readonly pollMs: number;
  /** Ages grow where nothing else changes; it also keeps proxies from closing a silent connection. */
  readonly tickMs: number;
  readonly mostListeners: number;
}

export const LIVE_TIMINGS: LiveTimings = { pollMs: 2000, tickMs: 30_000, mostListeners: 100 };

/** What is not taken by then will not be: the reader of such an answer is gone, or frozen. */
const MOST_UNSENT_BYTES = 16_384;

/** An event without data is none. */
const CHANGED = 'event: changed\ndata: 1\n\n';

/** Returns what nobody listens to yet. `readMark` returns another text where something changed. */
export function makeLive(
  { log, readMark }: { log: Logger; readMark: () => Promise<string> },
  { pollMs, tickMs, mostListeners }: LiveTimings,
): Live {
  const listeners = new Set<ServerResponse>();
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;
  let lastMark: string | null = null;
  let toldMs = 0;

  const tell = () => {
    toldMs = performance.now();
    for (const response of listeners) {
      if (response.writableLength > MOST_UNSENT_BYTES) response.destroy();
      else response.write(CHANGED);
    }
  };
  const look = async () => {
    const mark = await readMark().catch((error: unknown) => {
      log.debug({ reason: describeError(error) }, 'status.live_blind');
      // The pages say it themselves, once when it begins and once when it is over.
      return 'the database does not answer';
    });
    // Its answers have ended meanwhile: to write to them would be an error that nobody catches.
    if (isClosed) return;
    const isChanged = lastMark !== null && mark !== lastMark;
    lastMark = mark;
    if (isChanged || performance.now() - toldMs >= tickMs) tell();
    if (listeners.size > 0) timer = setTimeout(look, pollMs);
    else stop();
  };
  const stop = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    lastMark = null;
  };

  return {
    listen(response) {
      if (isClosed || listeners.size >= mostListeners) return false;
      // Gone while the site was loaded for it: it closes no more, and would be listened for until the end.
      if (response.destroyed) return true;
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        // A proxy that collects the answer would never pass it on. Source: nginx, proxy_buffering.
        'x-accel-buffering': 'no',
      });
      response.write('retry: 5000\n\n');
      listeners.add(response);
      response.once('close', () => listeners.delete(response));
      if (timer === null) {
        toldMs = performance.now();
        timer = setTimeout(look, 0);
      }
      return true;
    },
    close() {
      isClosed = true;
      stop();
      for (const response of listeners) response.end();
    },
  };
}
