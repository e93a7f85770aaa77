// A page that cannot be read, because of an error of no known class.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { readMirror, readProgram } from '../support/compare-with-program.ts';
import { listParsed } from './list-parsed.ts';
import { useSyncing } from './syncing.ts';

const given = useSyncing({ affiliates: 8, referrals: 260 });

/** The program with a record on its first page that throws at whoever looks at it. */
function spoil(api: ApiClient): ApiClient {
  const spoiled = {
    get id() {
      throw new RangeError('nobody foresaw this');
    },
  };
  return {
    ...api,
    async list(resource, query, options) {
      const answer = await listParsed(api)(resource, query, options);
      if (query.page !== 1) return answer;
      const [, ...others] = answer.data;
      return { ...answer, data: [spoiled, ...others] };
    },
  };
}

// A rejection that nothing handles would end the process, and fails this file.
test('fails its run, which says so in the run log, and not the process; the next run goes on', async () => {
  const { api, db, sync, sandbox, database } = given();
  await sync('affiliates');
  const failed = runSync(
    { api: spoil(api), db, log: pino({ level: 'silent' }) },
    { resource: 'referrals', mode: 'full', acceptDeletes: false },
  );
  await expect(failed).rejects.toThrow(RangeError);
  const { rows } = await database.pool.query(
    `select state, rows_seen from sync_runs where resource = 'referrals'`,
  );
  expect(rows).toEqual([{ state: 'failed', rows_seen: 0 }]);
  expect(await sync('referrals')).toMatchObject({ state: 'succeeded', verified: true });
  expect(await readMirror(database.pool)).toEqual(await readProgram(sandbox));
});
