// What a delta sync cannot see, in a user's words. plan-delta.ts says why.

/** Each is seen by the next full sync at the latest. */
export const DELTA_BLIND_SPOTS: readonly string[] = [
  'changes of a referral that move no counter of its affiliate (a renamed customer, another visit, an expiry)',
  'deleted referrals',
  'changes of one affiliate’s referrals that cancel each other out',
  'changes of referrals without an affiliate',
];

/** Returns what a delta cannot see, as lines of text. */
export function describeBlindSpots(): string {
  return [
    'A delta does not see, until the next full sync does:',
    ...DELTA_BLIND_SPOTS.map((spot) => `  - ${spot}`),
  ].join('\n');
}
