// The kinds of concern, which of them are mild, and what to do about one that stays after its command.
// docs/operations.md has the same table.

/** Every kind of concern, the most serious first, with the last resort against it. */
export const IF_IT_STAYS = {
  secret_refused:
    "ask the affiliate program's operator for the secret, and put it in AFFILIATE_API_SECRET, or in the file of AFFILIATE_API_SECRET_FILE",
  program_changed: 'correct AFFILIATE_API_URL or the secret',
  sync_failed: 'run affiliate-mirror sync: its success ends this, and its error says what is wrong',
  sync_interrupted: 'find what ends its process: a supervisor, a time limit, a lack of memory',
  sync_silent: 'end the process that the sync names: it has the lock, and does nothing',
  sync_unverified: "ask the API's operator why its answers contradict each other, as the reason says",
  never_synced: 'the error of that sync says what is wrong',
  stale: 'affiliate-mirror status runs says why each run ended; a worker needs SYNC_FULL_CRON',
  payments_failed:
    'affiliate-mirror commissions status says why; ask anew with a right value, which replaces them',
  payments_neglected: 'give the worker the DATABASE_URL and MIRROR_SCHEMA of this mirror, or run doctor',
  deletions_held_back:
    'run affiliate-mirror deletions accept if they are gone; else ask the operator of the API where they are',
  disk_filling: 'give the database more room, or keep less: RETENTION_HISTORY_DAYS',
  records_rejected:
    "drop the constraint, trigger or index that refuses them, or ask the API's operator; then run a full sync, and another if it went on with a stopped run",
  sums_differ: "the API's own totals are wrong: ask its operator, with the rows of commission_differences",
  books_differ:
    'correct the books, pay what they have, or accept it with --accept; a noted comparison of the same commissions ends it',
  throttled: 'it ends by itself; if it comes often, lower API_RATE_LIMIT, or ask for a higher limit',
} as const;

export type ConcernCode = keyof typeof IF_IT_STAYS;

export const CONCERN_CODES = Object.keys(IF_IT_STAYS) as ConcernCode[];

/** They wait for a user or for time to pass; every other concern is a fault. */
const MILD: readonly ConcernCode[] = ['deletions_held_back', 'records_rejected', 'throttled', 'never_synced'];

/** Returns whether the mirror is only not quite well: `status --check` does not fail for it. */
export function isMild({ code }: { readonly code: ConcernCode }): boolean {
  return MILD.includes(code);
}

/** What doctor checks too. */
const SEEN_BY_DOCTOR = new Set([
  'API_UNREACHABLE',
  'API_UNAVAILABLE',
  'API_UNAUTHORIZED',
  'ANSWER_STORED',
  'PROGRAM_CHANGED',
  'DB_UNREACHABLE',
  'DB_ACCESS_REFUSED',
  'DB_FULL',
  'DB_SCHEMA_MISMATCH',
  'PERSONAL_DATA_MISMATCH',
]);

const AWAY = "ask the API's operator when it is back: a worker goes on by itself then";
const IF_SYNC_FAILS_AGAIN: Readonly<Record<string, string>> = {
  API_UNREACHABLE: AWAY,
  API_UNAVAILABLE: AWAY,
  API_UNAUTHORIZED: IF_IT_STAYS.secret_refused,
  PROGRAM_CHANGED: IF_IT_STAYS.program_changed,
  API_THROTTLED: IF_IT_STAYS.throttled,
  API_REJECTED: "ask the API's operator why it refuses the request that the error names",
  CONTRACT_VIOLATION: "ask the API's operator: its answer is not what the contract says",
  DB_REFUSED: 'drop the constraint, trigger or index that affiliate-mirror status runs names',
  UNFORESEEN: 'it is a bug: report it with the error of affiliate-mirror status runs',
};
const OTHERWISE = 'affiliate-mirror status runs has the error of each run';

/** Returns the command as it is run for a program; null is the one that the environment describes. */
export function commandFor(program: string | null, command: string): string {
  const isOfAll = program === null || command === WORK;
  return isOfAll ? command : `${command} --program ${program}`;
}

/** A worker serves all programs. */
const WORK = 'affiliate-mirror work';

/** Returns the commands and the advice of a concern as they are for a program of PROGRAMS_FILE, in its words. */
export function adviseFor<Advice extends { readonly fix: string; readonly if_it_stays: string }>(
  program: string,
  advice: Advice,
): Advice {
  const named = advice.if_it_stays.replace(IN_ADVICE, (command) => commandFor(program, command));
  const if_it_stays = WORDS_OF_FILE.reduce((said, [variable, key]) => said.replace(variable, key), named);
  return { ...advice, fix: commandFor(program, advice.fix), if_it_stays };
}

const IN_ADVICE = /affiliate-mirror (?:status runs|commissions status|deletions accept)/g;
const WORDS_OF_FILE = [
  ['AFFILIATE_API_SECRET, or in the file of AFFILIATE_API_SECRET_FILE', 'the file of its secret_file'],
  ['AFFILIATE_API_URL', 'its url'],
  ['SYNC_FULL_CRON', 'full_cron'],
  ['API_RATE_LIMIT', 'rate_limit'],
] as const;

/** Returns the command against a failed sync: the check that names the cause, or the sync, whose success ends it. */
export function fixFailedSync(resource: string, errorCode: string | null): string {
  return SEEN_BY_DOCTOR.has(errorCode ?? '')
    ? 'affiliate-mirror doctor'
    : `affiliate-mirror sync ${resource}`;
}

/** Returns what to do if the concern stays after its command. */
export function ifItStays(code: ConcernCode, errorCode: string | null): string {
  return code === 'sync_failed' ? ifSyncFailsAgain(errorCode) : IF_IT_STAYS[code];
}

/** Returns what to do if a sync fails again with the error. */
export function ifSyncFailsAgain(errorCode: string | null): string {
  const code = errorCode ?? '';
  return IF_SYNC_FAILS_AGAIN[code] ?? (SEEN_BY_DOCTOR.has(code) ? IF_IT_STAYS.sync_failed : OTHERWISE);
}
