// A process that runs one sync of referrals and kills itself, without any warning, right after Postgres has answered
// its n-th statement. Started by killed-sync.test.ts; ends by itself where there are fewer statements. It asks for no
// page before the one before is committed: each is a batch of its own then, and there is much to be killed between.

import pg from 'pg';
import { makeApiClient } from '../../src/api/client.ts';
import type { TakePermit } from '../../src/api/permit.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { runSync } from '../../src/sync/run-sync.ts';
import { makeUnlimitedPermits } from '../support/unlimited-permits.ts';

export interface Fault {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly secret: string;
  readonly applicationName: string;
  readonly killAfter: number;
  /** Statements count from the first one that contains this. */
  readonly countFrom: string;
}

const fault: Fault = JSON.parse(process.argv[2] ?? '');
let isCounting = false;
let answered = 0;
let isLoading = false;
let pagesToLoad = 0;
let loaded = Promise.withResolvers<void>();

/** What every load of pages does and nothing else; its transaction ends with the next commit. */
const LOADS = 'insert into seen_rows';

type Query = (text: unknown, values?: unknown) => Promise<unknown>;
const query = pg.Client.prototype.query as unknown as Query;
const killing: Query = async function (this: pg.Client, text, values) {
  const answer = await query.call(this, text, values);
  isCounting ||= String(text).includes(fault.countFrom);
  if (isCounting) answered += 1;
  if (answered === fault.killAfter) process.kill(process.pid, 'SIGKILL');
  isLoading ||= String(text).includes(LOADS);
  if (isLoading && text === 'commit') {
    isLoading = false;
    pagesToLoad -= 1;
    loaded.resolve();
  }
  return answer;
};
pg.Client.prototype.query = killing as unknown as typeof pg.Client.prototype.query;

const permits = makeUnlimitedPermits();
const takePermit: TakePermit = async (signal) => {
  while (pagesToLoad > 0) {
    loaded = Promise.withResolvers();
    await loaded.promise;
  }
  pagesToLoad += 1;
  return permits.takePermit(signal);
};

const log = makeLogger('fatal');
const { databaseUrl, applicationName } = fault;
const db = makeDatabase(makePool({ log }, { url: databaseUrl, schema: 'mirror', max: 5, applicationName }));
const api = makeApiClient({ takePermit, log }, { url: fault.apiUrl, secret: fault.secret, timeoutMs: 5000 });
await runSync({ api, db, log }, { resource: 'referrals', mode: 'full', concurrency: 1, acceptDeletes: true });
await api.close();
await db.destroy();
