// A process that holds a lock until it is killed. Started by session-lock.test.ts.

import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { withSessionLock } from '../../src/db/session-lock.ts';
import { makeLogger } from '../../src/log.ts';

const settings = { url: process.argv[2] ?? '', schema: 'mirror', max: 1, applicationName: 'holder' };
const db = makeDatabase(makePool({ log: makeLogger('fatal') }, settings));
await withSessionLock(db, { name: 'test of', isPatient: false }, async () => {
  process.send?.('holds it');
  await new Promise(() => {});
});
