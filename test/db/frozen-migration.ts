// A process that migrates a schema, and stops itself once it may. Started by migrate.test.ts.

import { runMigrations } from '../../src/db/migrate.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { freezeSelf } from '../support/freeze-self.ts';

const [, , url = '', schema = ''] = process.argv;
const pool = makePool({ log: makeLogger('fatal') }, { url, schema, max: 1, applicationName: 'frozen' });
freezeSelf(pool, { after: 'pg_advisory_lock', time: 1 });
const outcome = await runMigrations(pool, { schema }).then(
  ({ applied }) => `applied ${applied.length}`,
  (error: Error) => error.message,
);
await pool.end();
process.stdout.write(outcome);
