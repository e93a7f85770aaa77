// The concerns that made-up figures give: each thing that can be wrong, one at a time.

import { expect, test } from 'vitest';
import { CONCERN_CODES, type ConcernCode, findConcerns } from '../../src/reports/find-concerns.ts';
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

const WRONG: Readonly<
  Record<ConcernCode, readonly [Given, what: RegExp, fix: RegExp, since: string | null]>
> = {
  secret_refused: [
    { worker: { secret_refused_since: THEN, program_changed_since: null } },
    /refuses the API secret, and all workers are paused/,
    /^affiliate-mirror doctor$/,
    THEN,
  ],
  program_changed: [
    { worker: { secret_refused_since: null, program_changed_since: THEN } },
    /none of the records that the mirror has: it is another account, and all workers are paused/,
    /^affiliate-mirror doctor$/,
    THEN,
  ],
  sync_failed: [
    {
      resource: {
        last_run_state: 'failed',
        last_run_error_code: 'API_UNREACHABLE',
        last_run_error: 'no answer',
      },
    },
    /last sync of referrals failed \(API_UNREACHABLE\): no answer/,
    /^affiliate-mirror doctor$/,
    THEN,
  ],
  sync_interrupted: [
    { resource: { last_run_state: 'interrupted' } },
    /last sync of referrals was stopped before its end/,
    /^affiliate-mirror sync referrals$/,
    THEN,
  ],
  sync_silent: [
    {
      resource: {
        last_run_state: 'running',
        last_run_finished_at: null,
        last_run_saved_age_seconds: 2 * HOUR,
      },
    },
    /process is most likely gone/,
    /^affiliate-mirror sync referrals$/,
    THEN,
  ],
  sync_unverified: [
    {
      resource: {
        last_run_state: 'partial',
        last_run_verified: false,
        last_run_error: 'unverified because it moved',
      },
    },
    /last sync of referrals ended unverified because it moved/,
    /^affiliate-mirror sync referrals$/,
    THEN,
  ],
  never_synced: [{ resource: NEVER }, /^referrals: never synced$/, /^affiliate-mirror sync$/, null],
  stale: [
    { resource: { changes_age_seconds: 27 * HOUR } },
    /^referrals: stale: /,
    /^affiliate-mirror sync$/,
    THEN,
  ],
  payments_failed: [
    { payments: { failed: 2, failed_since: THEN } },
    /^2 payment requests failed$/,
    /^affiliate-mirror commissions retry$/,
    THEN,
  ],
  payments_neglected: [
    { payments: { neglected: 1, neglected_since: THEN } },
    /^1 payment request due, and no worker takes them up$/,
    /^affiliate-mirror work$/,
    THEN,
  ],
  deletions_held_back: [
    { resource: { deletions_held_back: 1_162, deletions_accepted: 100, deletions_held_back_since: THEN } },
    /^1,062 deletions of referrals held back, /,
    /^affiliate-mirror deletions list referrals$/,
    THEN,
  ],
  disk_filling: [
    { fullInDays: 12.7 },
    /^at this rate DATABASE_SIZE_LIMIT is used up in 12 days, on 2026-01-02$/,
    /^affiliate-mirror status growth$/,
    null,
  ],
  records_rejected: [
    { resource: { rejected_records: 3, rejected_since: THEN } },
    /^3 records of referrals rejected/,
    /^affiliate-mirror status drift$/,
    THEN,
  ],
  sums_differ: [
    { differences: 2 },
    /^2 sums of commissions by affiliate and currency are not what the program itself reports/,
    /^affiliate-mirror sync affiliates commissions$/,
    null,
  ],
  books_differ: [
    { books: { compared_at: THEN, differing: 1_200, differ_since: THEN, differ_in: 'payment_ledger' } },
    /^1,200 commissions differ between the books and the program, as last compared$/,
    /^affiliate-mirror commissions reconcile --due$/,
    THEN,
  ],
  throttled: [
    { budget: { paused_until: '2026-01-02T00:05:00Z', last_throttled_at: THEN } },
    /nothing is sent until 2026-01-02T00:05:00Z/,
    /^affiliate-mirror status budget$/,
    THEN,
  ],
};

test('a mirror that is fresh and verified gives no cause for concern', () => {
  expect(findConcerns(makeStatus(), { ...USUAL, growth: makeGrowth() })).toEqual([]);
});

test.each(CONCERN_CODES)('%s is one concern, with what is wrong, since when and what to run', (code) => {
  const [given, what, fix, since] = WRONG[code];
  const concerns = findConcerns(makeStatus(given), { ...USUAL, growth: makeGrowth(given.fullInDays) });
  expect(concerns).toMatchObject([{ code, since }]);
  expect(concerns[0]?.what).toMatch(what);
  expect(concerns[0]?.fix).toMatch(fix);
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

test('the age from which a resource is stale can be chosen', () => {
  const status = makeStatus({ resource: { changes_age_seconds: 2 * HOUR } });
  expect(findConcerns(status, { maxAgeSeconds: HOUR })).toMatchObject([{ code: 'stale' }]);
  expect(findConcerns(status, { maxAgeSeconds: 3 * HOUR })).toEqual([]);
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
