// A process that holds a lock until it is killed, or stops itself the moment it has it. Started by
// process-session.long.test.ts.

import { makeLogger } from '../../../src/base/log.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { withLock } from '../../../src/db/locks/process-session.ts';
import { freezeSelf } from '../../support/interrupt-self.ts';

const settings = { url: process.argv[2] ?? '', schema: 'mirror', max: 1, applicationName: 'holder' };
const pool = makePool({ log: makeLogger('fatal') }, settings);
if (process.argv[3] === 'stopped') freezeSelf({ after: 'advisory_lock', time: 1 });
const db = makeDatabase(pool);
await withLock(db, 'test of', async () => {
  process.send?.('holds it');
  await new Promise(() => {});
});
