// One sync of a resource that ends right after Postgres has answered its n-th statement. It asks for no page before the
// one before is committed: each is a batch of its own then, and there are many places to interrupt it.

import { type ApiClient, makeApiClient } from '../../src/api/client.ts';
import type { ListedResource } from '../../src/contract/resources.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';

export interface Fault {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly secret: string;
  readonly resource: ListedResource;
  readonly applicationName: string;
  readonly endAfter: number;
  /** Statements count from the first one that contains this. */
  readonly countFrom: string;
}

/** What every load of pages does and nothing else; its transaction ends with the next commit. */
const LOADS = 'insert into seen_rows';

type Query = (text: unknown, values?: unknown) => Promise<unknown>;

/**
 * Returns whether the fault came; false where the sync ended before. After it, nothing that the sync sends
 * reaches Postgres.
 *
 * Throws: what the sync throws where no fault came.
 */
export async function syncUntilFault(fault: Fault, onFault: () => Promise<void>): Promise<boolean> {
  let isOver = false;
  let isCounting = false;
  let answered = 0;
  let isLoading = false;
  let pagesToLoad = 0;
  let loaded = Promise.withResolvers<void>();

  const log = makeLogger('silent');
  const { databaseUrl, applicationName } = fault;
  const pool = makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 5, applicationName });
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as unknown as Query;
    const counting: Query = async (text, values) => {
      if (isOver) throw new Error('the fault has come');
      const answer = await query(text, values);
      isCounting ||= String(text).includes(fault.countFrom);
      if (isCounting) answered += 1;
      if (answered === fault.endAfter && !isOver) {
        isOver = true;
        loaded.resolve();
        await onFault();
      }
      isLoading ||= String(text).includes(LOADS);
      if (isLoading && text === 'commit') {
        isLoading = false;
        pagesToLoad -= 1;
        loaded.resolve();
      }
      return answer;
    };
    client.query = counting as unknown as typeof client.query;
  });

  const { list, ...others } = makeApiClient(
    { takePermit: makeUnlimitedPermits().takePermit, log },
    { url: fault.apiUrl, secret: fault.secret, timeoutMs: 60_000 },
  );
  const api: ApiClient = {
    ...others,
    async list(resource, query, options) {
      while (pagesToLoad > 0 && !isOver) {
        loaded = Promise.withResolvers();
        await loaded.promise;
      }
      pagesToLoad += 1;
      return list(resource, query, options);
    },
  };
  try {
    await runSync(
      { api, db: makeDatabase(pool), log },
      { resource: fault.resource, mode: 'full', acceptDeletes: true },
    );
  } catch (error) {
    if (!isOver) throw error;
  } finally {
    await api.close();
    await pool.end();
  }
  return isOver;
}
