// A payment ledger to ask for updates in, one for the tests of a file.

import pg from 'pg';
import { beforeAll } from 'vitest';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import {
  type AskedUpdate,
  COMMISSION_UPDATES_CHANNEL,
  type RequestedUpdate,
  requestUpdates,
} from '../../../src/payments/ask/request-updates.ts';
import { plainRequest } from '../../../src/payments/update-request.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

export const AT = '2026-10-01T00:00:00Z';

/** Returns the ledger, whose `database` and `db` are there once the tests run, and ways to ask in it. */
export function useLedger() {
  const ledger = {} as { database: TestDatabase; db: Database };
  let made = 0;

  beforeAll(async () => {
    ledger.database = await createTestDatabase();
    ledger.db = makeDatabase(ledger.database.pool);
  });

  function newId(): string {
    made += 1;
    return `00000000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`;
  }

  function ask(
    ...requests: (Partial<AskedUpdate> & Pick<AskedUpdate, 'commission_id' | 'action'>)[]
  ): Promise<RequestedUpdate[]> {
    return requestUpdates({ db: ledger.db }, requests.map(plainRequest), { batchId: 'b', requestedBy: null });
  }

  async function insert(columns: Record<string, unknown>): Promise<number> {
    const names = Object.keys(columns);
    const { rows } = await ledger.database.pool.query<{ id: number }>(
      `insert into commission_updates (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})
       returning id`,
      Object.values(columns),
    );
    return rows[0]?.id ?? 0;
  }

  /** Returns what wakes the workers while `act` runs, once it has woken them. */
  async function heardDuring(act: () => Promise<unknown>): Promise<(string | undefined)[]> {
    const client = new pg.Client({ connectionString: ledger.database.url });
    await client.connect();
    const heard: (string | undefined)[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    client.on('notification', ({ payload }) => {
      heard.push(payload);
      resolve();
    });
    await client.query(`listen ${COMMISSION_UPDATES_CHANNEL}`);
    await act();
    await promise;
    await client.end();
    return heard;
  }

  return { ledger, newId, ask, insert, heardDuring };
}
