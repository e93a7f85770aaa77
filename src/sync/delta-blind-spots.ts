// What a delta sync cannot see, in a user's words. Why, stands in plan-delta.ts.

/** Each is seen by the next full sync at the latest. */
export const DELTA_BLIND_SPOTS: readonly string[] = [
  'changes of a referral that move no counter of its affiliate (a renamed customer, another visit, an expiry)',
  'deleted referrals',
  'changes of one affiliate’s referrals that cancel each other out',
  'changes of referrals without an affiliate',
];
