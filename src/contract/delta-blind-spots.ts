// What a delta cannot see, since the program neither filters nor sorts by change: in the same words wherever it is
// said. (Why that is so: sync/plan-delta.ts and sync/plan-commissions.ts.)

/** Each is seen by the next full sync at the latest. */
export const DELTA_BLIND_SPOTS: readonly string[] = [
  'changes of a referral that move no counter of its affiliate (a renamed customer, another visit, an expiry)',
  'deleted referrals',
  'changes of one affiliate’s referrals that cancel each other out',
  'changes of referrals without an affiliate',
  'where commissions are listed: changes and deletions of a commission that is paid or voided (a refund, another date), unless it is pending or due again',
];

/** Returns what a delta cannot see, as lines of text. */
export function describeBlindSpots(): string {
  return [
    'A delta does not see, until the next full sync does:',
    ...DELTA_BLIND_SPOTS.map((spot) => `  - ${spot}`),
  ].join('\n');
}
