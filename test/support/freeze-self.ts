// Stops a process at an exact point of its work, as Ctrl-Z or a suspended container would at a random one.

import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { expect } from 'vitest';

export interface FreezePoint {
  /** A piece of the statement after whose answer the process stops. */
  readonly after: string;
  /** Which of the statements that contain it, from 1. */
  readonly time: number;
}

/** Has this process stop itself, once, before anything follows the statement. To be called before the pool is used. */
export function freezeSelf(pool: pg.Pool, { after, time }: FreezePoint): void {
  let met = 0;
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    client.query = (async (...args: unknown[]) => {
      const result = await query(...args);
      if (String(args[0]).includes(after)) {
        met += 1;
        if (met === time) process.kill(process.pid, 'SIGSTOP');
      }
      return result;
    }) as typeof client.query;
  });
}

/** Resolves once the process is stopped. */
export async function untilFrozen(pid: number): Promise<void> {
  // The third field, behind a name that may contain anything.
  const state = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.[0];
  await expect.poll(state, { interval: 10 }).toBe('T');
}
