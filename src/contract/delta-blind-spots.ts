// The changes that a delta cannot see, because the API neither filters nor sorts by change (see sync/plan-delta.ts).
// All commands, views and docs use these words.

export const DELTA_BLIND_SPOTS: readonly string[] = [
  'changes of a referral that move no counter of its affiliate (a renamed customer, another visit, an expiry)',
  'deleted referrals',
  'changes of one affiliate’s referrals that cancel each other out',
  'changes of referrals without an affiliate',
  'where commissions or payouts are listed: changes and deletions of one that is paid or voided (a refund, another date), unless it is open again',
];

export function describeBlindSpots(): string {
  return [
    'A delta does not see, until the next full sync does:',
    ...DELTA_BLIND_SPOTS.map((spot) => `  - ${spot}`),
  ].join('\n');
}
