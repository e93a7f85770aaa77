// What the exit code of the process says.
//
// A sync that another process keeps from a resource has a code of its own, and no other option waits for that process:
// a scheduler that starts two at once must not report a failure where together they did everything, and may want to
// skip what comes after (skip_on_exit_code in Airflow). Not 75 (EX_TEMPFAIL of sysexits.h): that asks to be tried
// again, and here there is nothing left to do. A sync that has something to look at says 3, whoever else is at it.

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 130 | 143;

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
      'finished, but look at what it says: rows rejected, deletions held back, counts unverified, campaigns or commissions left out, payments not made, books that differ',
  },
  { code: 4, meaning: 'left, in whole or in part, to another process that syncs already' },
  { code: 130, meaning: 'stopped by Ctrl-C before it was done' },
  { code: 143, meaning: 'stopped by SIGTERM or SIGHUP before it was done' },
];
