// The concerns that made-up figures give: each thing that can be wrong, one at a time.

import { expect, test } from 'vitest';
import { CONCERN_CODES, type ConcernCode, ifItStays } from '../../src/reports/concern-advice.ts';
import { findConcerns } from '../../src/reports/find-concerns.ts';
import type { ResourceStatus } from '../../src/reports/read-freshness.ts';
import type { MirrorHealth } from '../../src/reports/read-health.ts';
import { makeGrowth } from './make-growth.ts';
import { type GivenHealth, makeHealth, THEN, WELL } from './make-health.ts';

const HOUR = 3600;
const USUAL = { maxAgeSeconds: 26 * HOUR };

const NEVER = {
  ...WELL,
  changes_as_of: null,
  changes_age_seconds: null,
  last_run_state: null,
  last_run_verified: null,
};

interface Given extends Omit<GivenHealth, 'resources'> {
  readonly resource?: Partial<ResourceStatus>;
  /** In how many days the disk is full. */
  readonly fullInDays?: number | null;
}

function makeStatus({ resource = {}, ...health }: Given = {}): MirrorHealth {
  return makeHealth({ ...health, resources: [resource] });
}

const REFUSED = { secret_refused_since: THEN, program_changed_since: null };
const OTHER_ACCOUNT = { secret_refused_since: null, program_changed_since: THEN };
const FAILED = {
  last_run_state: 'failed',
  failing_since: THEN,
  last_run_finished_at: '2026-01-02T05:00:00Z',
  last_run_error_code: 'API_UNREACHABLE',
  last_run_error: 'no answer',
} as const;
const SILENT = {
  last_run_state: 'running',
  last_run_finished_at: null,
  last_run_saved_age_seconds: 2 * HOUR,
} as const;
const MOVED = {
  last_run_state: 'partial',
  last_run_verified: false,
  unverified_since: THEN,
  last_run_finished_at: '2026-01-02T05:00:00Z',
  last_run_error: 'unverified because it moved',
} as const;
const HELD = { deletions_held_back: 1_162, deletions_accepted: 100, deletions_held_back_since: THEN };
const DIFFERING = {
  compared_at: THEN,
  differing: 1_200,
  differ_since: THEN,
  differ_in: 'payment_ledger',
} as const;
const PAUSED = { paused_until: '2026-01-02T00:05:00Z', last_throttled_at: THEN };

/** What is wrong, and the command to run; since `THEN`, unless it says otherwise. */
const WRONG: Readonly<Record<ConcernCode, readonly [Given, what: RegExp, fix: string, since?: null]>> = {
  secret_refused: [{ worker: REFUSED }, /refuses the secret, and all workers are paused/, 'doctor'],
  program_changed: [{ worker: OTHER_ACCOUNT }, /it is another account, and all workers are paused/, 'doctor'],
  sync_failed: [{ resource: FAILED }, /sync of referrals failed \(API_UNREACHABLE\): no answer/, 'doctor'],
  sync_interrupted: [
    { resource: { last_run_state: 'interrupted' } },
    /stopped before its end/,
    'sync referrals',
  ],
  sync_silent: [{ resource: SILENT }, /process is most likely dead/, 'sync referrals'],
  sync_unverified: [{ resource: MOVED }, /referrals ended unverified because it moved/, 'sync referrals'],
  never_synced: [{ resource: NEVER }, /^referrals: never synced$/, 'sync', null],
  stale: [{ resource: { changes_age_seconds: 27 * HOUR } }, /^referrals: stale: /, 'sync'],
  payments_failed: [
    { payments: { failed: 2, failed_since: THEN } },
    /^2 payment requests failed$/,
    'commissions retry',
  ],
  payments_neglected: [
    { payments: { neglected: 1, neglected_since: THEN } },
    /^1 payment request due, /,
    'work',
  ],
  deletions_held_back: [
    { resource: HELD },
    /^1,062 deletions of referrals held back, /,
    'deletions list referrals',
  ],
  disk_filling: [{ fullInDays: 12.7 }, /LIMIT is used up in 12 days, on 2026-01-02$/, 'status growth', null],
  records_rejected: [
    { resource: { rejected_records: 3, rejected_since: THEN } },
    /^3 records of/,
    'status drift',
  ],
  sums_differ: [
    { differences: 2 },
    /^2 sums of commissions by affiliate/,
    'sync affiliates commissions',
    null,
  ],
  books_differ: [
    { books: DIFFERING },
    /^1,200 commissions differ between/,
    'commissions reconcile --due --note',
  ],
  throttled: [{ budget: PAUSED }, /nothing is sent until 2026-01-02T00:05:00Z/, 'status budget'],
};

test('a mirror that is fresh and verified gives no cause for concern', () => {
  expect(findConcerns(makeStatus(), { ...USUAL, growth: makeGrowth() })).toEqual([]);
});

test.each(CONCERN_CODES)('%s is one concern, with what is wrong, since when and what to run', (code) => {
  const [given, what, fix, since = THEN] = WRONG[code];
  const concerns = findConcerns(makeStatus(given), { ...USUAL, growth: makeGrowth(given.fullInDays) });
  expect(concerns).toMatchObject([{ code, since }]);
  expect(concerns[0]?.what).toMatch(what);
  expect(concerns[0]?.fix).toBe(`affiliate-mirror ${fix}`);
  expect(concerns[0]?.if_it_stays).toBe(ifItStays(code, concerns[0]?.error_code ?? null));
});

test.each(CONCERN_CODES)(
  '%s of a listed program: the command names it, in the words of PROGRAMS_FILE',
  (code) => {
    const [given, , fix] = WRONG[code];
    const options = { ...USUAL, growth: makeGrowth(given.fullInDays), program: 'acme' };
    const [found] = findConcerns(makeStatus(given), options);
    expect(found?.fix).toBe(
      fix === 'work' ? 'affiliate-mirror work' : `affiliate-mirror ${fix} --program acme`,
    );
    const said = `${found?.what} ${found?.if_it_stays}`;
    expect(said).not.toMatch(/AFFILIATE_|API_RATE_LIMIT|_CRON|workers are paused/);
    expect(said).not.toMatch(/affiliate-mirror [a-z]+ [a-z]+(?! --program acme)\b/);
  },
);

// Of each error that can end a run: doctor is named only for what it checks.
test.each([
  ['API_UNREACHABLE', 'doctor', /^ask the API's operator when it is back: a worker goes on by itself/],
  ['API_UNAUTHORIZED', 'doctor', /^ask the affiliate program's operator for the secret/],
  ['DB_FULL', 'doctor', /^run affiliate-mirror sync: its success ends this/],
  ['DB_REFUSED', 'sync referrals', /^drop the constraint, trigger or index that /],
  ['CONTRACT_VIOLATION', 'sync referrals', /^ask the API's operator: /],
  ['UNFORESEEN', 'sync referrals', /^it is a bug: report it/],
  ['BUSY', 'sync referrals', /^affiliate-mirror status runs has the error/],
  [null, 'sync referrals', /^affiliate-mirror status runs has the error/],
])('a sync that failed with %s: run %s', (last_run_error_code, fix, stays) => {
  const resource = { ...FAILED, last_run_error_code };
  expect(findConcerns(makeStatus({ resource }), USUAL)).toMatchObject([
    { code: 'sync_failed', fix: `affiliate-mirror ${fix}`, if_it_stays: expect.stringMatching(stays) },
  ]);
});

test('a role that may not read the error of a run is not shown "null"', () => {
  const [concern] = findConcerns(makeStatus({ resource: { ...FAILED, last_run_error: null } }), USUAL);
  expect(concern?.what).toBe('the last sync of referrals failed (API_UNREACHABLE)');
});

test('the words of an error, which may quote a person, are in none of what leaves the machine', () => {
  const quoting = 'the record of Ada Lovelace <ada@example.com> has no state';
  for (const last_run_state of ['failed', 'partial'] as const) {
    const given = {
      last_run_state,
      last_run_verified: false,
      last_run_error_code: 'CONTRACT_VIOLATION',
      last_run_error: quoting,
    };
    const [concern] = findConcerns(makeStatus({ resource: given }), USUAL);
    expect(concern?.what).toContain('Ada');
    expect({ ...concern, what: null }).toEqual({
      ...concern,
      what: null,
      summary: expect.not.stringMatching(/ada/i),
    });
  }
});

test('the most serious comes first, whatever the order of the figures', () => {
  const status = makeStatus({
    resource: { rejected_records: 1, last_run_state: 'failed' },
    budget: { paused_until: THEN },
    payments: { failed: 1 },
    worker: { secret_refused_since: THEN, program_changed_since: null },
  });
  const codes = findConcerns(status, USUAL).map(({ code }) => code);
  expect(codes).toEqual([
    'secret_refused',
    'sync_failed',
    'payments_failed',
    'records_rejected',
    'throttled',
  ]);
});

test.each([
  ['a run that saved something lately', { last_run_state: 'running', last_run_saved_age_seconds: 60 }],
  ['a first run that is under way', { ...NEVER, last_run_state: 'running', last_run_saved_age_seconds: 60 }],
  [
    'a stale resource that is being synced',
    { changes_age_seconds: 99 * HOUR, last_run_state: 'running', last_run_saved_age_seconds: 1 },
  ],
  ['deletions that were all accepted', { deletions_held_back: 5, deletions_accepted: 5 }],
  [
    'a verified run that held deletions back, since accepted',
    { last_run_state: 'partial', last_run_verified: true },
  ],
] as const)('%s is no concern', (_, resource) => {
  expect(findConcerns(makeStatus({ resource }), USUAL)).toEqual([]);
});

test('a run that could save nothing, since the program throttles it, is not silent', () => {
  const silentSince = (last_throttled_at: string | null) => {
    const running = { last_run_state: 'running', last_run_saved_at: THEN } as const;
    const resource = { ...running, last_run_saved_age_seconds: 2 * HOUR };
    return findConcerns(makeStatus({ resource, budget: { last_throttled_at } }), USUAL).map(
      ({ code }) => code,
    );
  };
  const after = (minutes: number) => new Date(Date.parse(THEN) + minutes * 60_000).toISOString();
  expect(silentSince(after(119))).toEqual([]);
  expect(silentSince(after(106))).toEqual([]);
  for (const at of [after(104), after(-1), null]) expect(silentSince(at)).toEqual(['sync_silent']);
});

test.each([
  [0, [expect.stringMatching(/is used up$/)]],
  [0.4, [expect.stringContaining('is used up within a day, on')]],
  [1, [expect.stringContaining('in 1 day,')]],
  [29.9, [expect.stringContaining('in 29 days')]],
  [31, []],
  [null, []],
])('a disk that is full in %s days', (fullInDays, expected) => {
  const concerns = findConcerns(makeStatus(), { ...USUAL, growth: makeGrowth(fullInDays) });
  expect(concerns.map(({ what }) => what)).toEqual(expected);
});

test('resources that were never synced, or are stale together, are one concern', () => {
  const affiliates = { ...WELL, resource: 'affiliates' };
  const judge = (...resources: readonly ResourceStatus[]) =>
    findConcerns({ ...makeStatus(), resources }, USUAL);
  const old = { changes_age_seconds: 99 * HOUR };
  expect(
    judge({ ...affiliates, ...old }, { ...WELL, ...old, changes_as_of: '2026-01-01T00:00:00Z' }),
  ).toMatchObject([
    { code: 'stale', resource: null, since: '2026-01-01T00:00:00Z', fix: 'affiliate-mirror sync' },
  ]);
  expect(judge(affiliates, { ...WELL, ...old })).toMatchObject([
    { code: 'stale', resource: 'referrals', since: THEN, fix: 'affiliate-mirror sync referrals' },
  ]);
  expect(judge({ ...NEVER, resource: 'affiliates' }, NEVER)).toMatchObject([
    { code: 'never_synced', what: 'affiliates, referrals: never synced', fix: 'affiliate-mirror sync' },
  ]);
});
