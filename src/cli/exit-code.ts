// The exit codes.
//
// A sync that leaves a resource to another process has a code of its own: a scheduler that starts two at once must not
// report a failure if together they did everything, and may want to skip its next steps (skip_on_exit_code in Airflow).
// Not 75 (EX_TEMPFAIL of sysexits.h): that asks for another try, and nothing is left to do. 3 goes before 4 and 5.

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 130 | 143;

/**
 * In the order of docs/configuration.md and of --help (a test holds the page to it). 130 and 143 are 128 + the signal.
 */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: 0, meaning: 'done' },
  { code: 1, meaning: 'failed' },
  { code: 2, meaning: 'bad usage or configuration' },
  {
    code: 3,
    meaning:
      'finished, but look at what it says: rows rejected, deletions held back, counts unverified, an optional list left out, payments not made, books that differ',
  },
  { code: 4, meaning: 'left, in whole or in part, to another process that syncs already' },
  { code: 5, meaning: 'status --check: the mirror is not well' },
  { code: 130, meaning: 'stopped by Ctrl-C before it was done' },
  { code: 143, meaning: 'stopped by SIGTERM or SIGHUP before it was done' },
];
