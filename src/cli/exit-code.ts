// What the exit code of the process says.

export type ExitCode = 0 | 1 | 2 | 3 | 130 | 143;

/** In the order of docs/configuration.md and of --help (a test holds the page to it). 130 and 143 are 128 + the signal. */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: 0, meaning: 'done' },
  { code: 1, meaning: 'failed' },
  { code: 2, meaning: 'bad usage or configuration' },
  { code: 3, meaning: 'finished, but rows were rejected, deletions held back or counts unverified' },
  { code: 130, meaning: 'stopped by Ctrl-C before it was done' },
  { code: 143, meaning: 'stopped by SIGTERM before it was done' },
];
