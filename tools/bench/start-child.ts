// The processes and directories of a bench: whatever is made here is removed when the bench ends, however it does.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the process. Throws: an Error once the bench is being cleaned up, after which nothing may start. */
export function startChild(
  cleanup: AsyncDisposableStack,
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  if (cleanup.disposed) throw new Error('the bench is over');
  const child = spawn(file, args, options);
  // It has nothing to save: its directory is removed with it.
  cleanup.defer(() => endChild(child, 'SIGKILL'));
  return child;
}

/** Ends the process, and resolves once it has ended. Idempotent: yes. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const hasStarted = child.pid !== undefined;
  if (!hasStarted || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Returns a new directory among the system's temporary ones. */
export function makeDirectory(cleanup: AsyncDisposableStack, prefix: string): string {
  // In one step with the line after it: nothing can come between.
  const directory = mkdtempSync(join(tmpdir(), prefix));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
