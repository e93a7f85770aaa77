// A process that holds a lock until it is killed, or stops itself the moment it has it. Started by
// session-lock.long.test.ts.

import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { withSessionLock } from '../../src/db/session-lock.ts';
import { makeLogger } from '../../src/log.ts';
import { freezeSelf } from '../support/freeze-self.ts';

const settings = { url: process.argv[2] ?? '', schema: 'mirror', max: 1, applicationName: 'holder' };
const pool = makePool({ log: makeLogger('fatal') }, settings);
if (process.argv[3] === 'stopped') freezeSelf(pool, { after: 'advisory_lock', time: 1 });
const db = makeDatabase(pool);
await withSessionLock(db, { name: 'test of', isPatient: false }, async () => {
  process.send?.('holds it');
  await new Promise(() => {});
});
