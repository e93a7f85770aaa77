// What the process's exit code says. Knows no command.

/**
 * 0 done; 1 failed; 2 bad usage or configuration; 3 finished, but with rows rejected, deletions held back or counts
 * unverified; 130 and 143 stopped by Ctrl-C and by SIGTERM before it was done (128 + the signal, as shells count).
 */
export type ExitCode = 0 | 1 | 2 | 3 | 130 | 143;
