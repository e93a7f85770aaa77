// Waits for a process that stops itself (interrupt-self.ts).

import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

/** Resolves once the process is stopped. */
export async function untilFrozen(pid: number): Promise<void> {
  await expect.poll(() => isFrozen(pid), { interval: 10 }).toBe(true);
}

/** Returns whether the process is stopped; false also if it has ended. */
export async function isFrozen(pid: number): Promise<boolean> {
  // The third field, behind a name that may contain anything.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.split(') ').at(-1)?.[0] === 'T';
}
