// The same of commissions as of referrals (killed-sync.test.ts).

import { AFTER_ANY, COMMISSIONS, describeKilledSyncs, IN_SECOND_WALK } from './killed-syncs.ts';

for (const ends of [AFTER_ANY, IN_SECOND_WALK]) describeKilledSyncs(COMMISSIONS, ends);
