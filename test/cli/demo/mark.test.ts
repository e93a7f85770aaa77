// The mark that keeps made-up and real records apart.

import { expect, test } from 'vitest';
import { markAsDemo, refuseDemoMirror, refuseForeignMirror } from '../../../src/cli/demo/mark.ts';
import { runMigrations } from '../../../src/db/migrate/migrate.ts';
import { createTestDatabase } from '../../support/database.ts';

test('a mirror whose schema has the name of an SQL word is marked, and kept apart, as any other', async () => {
  const { pool } = await createTestDatabase();
  await runMigrations(pool, { schema: 'order' });
  await refuseForeignMirror(pool, 'order');
  await pool.query(`insert into "order".sync_runs (resource, mode) values ('affiliates', 'full')`);
  await expect(refuseForeignMirror(pool, 'order')).rejects.toThrow(
    'mirrors another affiliate program already',
  );
  await markAsDemo(pool, 'order');
  await refuseForeignMirror(pool, 'order');
  await expect(refuseDemoMirror(pool, 'order', 'https://api.example.com')).rejects.toThrow('made-up records');
});
