// Who started this process, as far as that decides what ends it. `npm run` and `npx` start a shell, which keeps a
// SIGTERM for itself and leaves us running: so whoever was started by them ends with them. `nohup` says that nothing
// but a signal of one's own is to end us.

import { readFileSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

/** Soon enough for a supervisor, which waits for ten seconds or more before it kills. */
const LOOK_INTERVAL_MS = 500;

/**
 * Calls `onGone` once, when npm or its shell is gone. Nothing is watched where npm did not start us: a process that
 * outlives its terminal on purpose goes on. Returns the function that ends the watch.
 */
export function watchNpm(environment: Environment, onGone: () => void): () => void {
  if (environment['npm_lifecycle_event'] === undefined && environment['npm_command'] === undefined)
    return () => {};
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    clearInterval(timer);
    onGone();
  }, LOOK_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

// Null where the system has no /proc: there only the shell is watched, which on macOS becomes the command itself.
function parentOf(pid: number): string | null {
  try {
    // Between the parentheses is a name, which may hold anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns whether a shell started us by `nohup`. Node takes back what nohup arranged, that SIGHUP is ignored, so that
 * only the shell's variable for the last command still shows it.
 */
export function isUnderNohup(environment: Environment): boolean {
  return /(^|\/)nohup$/.test(environment['_'] ?? '');
}
