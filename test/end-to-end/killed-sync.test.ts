// A few statements of a sync in `npm test`; a sixth of all, and of a second walk, in the long tests.

import { sized } from '../support/sizes.ts';
import { AFTER_ANY, describeKilledSyncs, IN_SECOND_WALK, REFERRALS } from './killed-syncs.ts';

for (const ends of sized([AFTER_ANY], [AFTER_ANY, IN_SECOND_WALK])) describeKilledSyncs(REFERRALS, ends);
