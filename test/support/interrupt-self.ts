// Kills or stops a process at an exact point of its work, as a crash, Ctrl-Z or a suspended container would at a random
// one.

import { subscribe } from 'node:diagnostics_channel';
import pg from 'pg';

/** A point: after an answer of Postgres, after a request to the API has left, or after the head of its answer. */
export interface Interruption {
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  /** Which of the points, from 1. */
  readonly point: number;
  /** Points count from the first statement that contains this. Left out: from the start. */
  readonly from?: string;
  /** Only statements that contain this are points. Left out: all, and the requests. */
  readonly of?: string;
}

/**
 * Has this process send itself the signal, once, before anything follows the point. `onAnswer` gets every statement, and
 * null for one that failed.
 */
export function interruptSelf(
  { signal, point, from = '', of = '' }: Interruption,
  onAnswer: (statement: string | null) => void = () => {},
): void {
  let passed = 0;
  let isCounting = from === '';
  const pass = (what: string) => {
    isCounting ||= what.includes(from);
    if (!isCounting || !what.includes(of)) return;
    passed += 1;
    if (passed === point) process.kill(process.pid, signal);
  };
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function answer(this: pg.Client, ...args: unknown[]) {
    const answered = query.apply(this, args);
    if (!(answered instanceof Promise)) return answered;
    const [statement] = args;
    const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text;
    return answered.then(
      (result) => {
        pass(text ?? '');
        onAnswer(text ?? '');
        return result;
      },
      (error) => {
        onAnswer(null);
        throw error;
      },
    );
  } as typeof query as typeof pg.Client.prototype.query;
  for (const name of ['undici:request:bodySent', 'undici:request:headers']) subscribe(name, () => pass(name));
}

export interface FreezePoint {
  /** A piece of the statement after whose answer the process stops. */
  readonly after: string;
  /** Which of the statements that contain it, from 1. */
  readonly time: number;
}

/** Has this process stop itself at the statement. To be called before its pool is used. */
export function freezeSelf({ after, time }: FreezePoint): void {
  interruptSelf({ signal: 'SIGSTOP', point: time, of: after });
}
