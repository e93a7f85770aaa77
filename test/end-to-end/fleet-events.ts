// What befalls a fleet: programs that change, a table that an analyst has locked, a queue that lost everything.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pRetry from 'p-retry';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Fleet, FleetProgram } from './fleet.ts';

const CHANGE_EVERY_MS = 3000;

/** Has each program change every few seconds. Returns the function that brings them to rest. */
export function startDrift({ origin }: Fleet, programs: readonly FleetProgram[]): () => Promise<void> {
  const over = new AbortController();
  const drifting = programs.map(async ({ sandbox: { program }, origin: schema }) => {
    for (let step = 0; !over.signal.aborted; step += 1) {
      const { rows } = await origin.query<{ id: string }>(
        `select id from ${schema}.referrals order by md5(id || $1) limit 1`,
        [step],
      );
      const [{ id } = { id: '' }] = rows;
      if (step % 4 === 0) await program.insertAffiliate();
      if (step % 4 === 1) await program.insertReferral();
      if (step % 4 === 2) await program.updateReferral(id, { customer_name: `Renamed ${step}` });
      if (step % 4 === 3) await program.deleteReferral(id);
      await sleep(CHANGE_EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  });
  const end = async () => {
    over.abort();
    await Promise.all(drifting);
  };
  onTestFinished(() => end().catch(() => undefined));
  return end;
}

/** Locks a table that every sync of the program needs, as a forgotten transaction does. Returns what ends it. */
export async function lockTable(fleet: Fleet, { schema }: FleetProgram): Promise<() => Promise<void>> {
  const analyst = new pg.Client({ connectionString: fleet.databaseUrl, application_name: 'notebook' });
  await analyst.connect();
  await analyst.query(`begin; lock table ${schema}.referrals in access exclusive mode`);
  let isOpen = true;
  const end = async () => {
    if (isOpen) await analyst.end();
    isOpen = false;
  };
  onTestFinished(end);
  return end;
}

/** Has the queue lose all of its jobs and schedules. */
export async function emptyQueue({ redis, base }: Fleet): Promise<void> {
  if (redis === null) {
    // Retried: the workers lock the same tables in another order, and one of the two is told of the deadlock.
    const truncate = 'truncate mirror_queue.job, mirror_queue.scheduler, mirror_queue.dedup cascade';
    await pRetry(() => base.query(truncate), { retries: 10, minTimeout: 100, factor: 1 });
    return;
  }
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
}
