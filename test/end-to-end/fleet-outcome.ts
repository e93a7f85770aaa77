// What a fleet has come to in the end: each schema equals its program, nothing of one is in another, no promise broken.

import pMap from 'p-map';
import { expect } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import {
  readMirror,
  readMirrorPayouts,
  readProgram,
  readProgramPayouts,
} from '../support/compare-with-program.ts';
import { DELTA_SECONDS, type Fleet, type FleetProgram, IS_EXACT, RATE_LIMIT } from './fleet.ts';

/**
 * A delta starts within so many seconds of its tick, whatever the other programs do. The promise is 30, and is held to
 * where FLEET is set; a machine that others use as well is given a fifth more.
 */
const DELTA_STARTS_WITHIN = IS_EXACT ? 30 : 36;

/** Waits until the program was synced in full, and verified, by runs that began after the moment. */
export async function untilSyncedSince(programs: readonly FleetProgram[], momentMs: number): Promise<void> {
  const since = new Date(momentMs).toISOString();
  const unsynced = async () => {
    const found = await pMap(programs, (program) => findUnsynced(program, since), {
      concurrency: 4,
    });
    return found.flat();
  };
  await expect.poll(unsynced, { interval: 1000, timeout: 240_000 }).toEqual([]);
}

async function findUnsynced({ pool, name, lists }: FleetProgram, since: string): Promise<string[]> {
  const { rows } = await pool.query<{ resource: string }>(
    `select resource from unnest($2::text[]) as resource where not exists (
       select from sync_runs run where run.resource = resource.resource and mode = 'full' and state = 'succeeded'
         and started_at > $1)`,
    [since, ['affiliates', 'referrals', ...lists]],
  );
  return rows.map(({ resource }) => `${name} ${resource}`);
}

/** Checks that each schema equals its program, which is at rest and has been synced in full. */
export async function expectEqual(programs: readonly FleetProgram[]): Promise<void> {
  for (const { name, sandbox, pool, lists } of programs) {
    sandbox.setFaults(NO_FAULTS);
    sandbox.setRateLimit(null);
    expect(await readMirror(pool), name).toEqual(await readProgram(sandbox));
    if (!lists.includes('payouts')) continue;
    expect(await readMirrorPayouts(pool), name).toEqual(await readProgramPayouts(sandbox));
  }
}

/** Checks what the programs received. To be called before anything else sends requests. */
export function expectLawful(programs: readonly FleetProgram[]): void {
  const fullest = Math.max(...programs.map(({ sandbox }) => sandbox.statistics().mostInWindow));
  expect(fullest, 'otherwise the limit was never met').toBeGreaterThanOrEqual(RATE_LIMIT.requests - 1);
  for (const { name, sandbox } of programs) {
    const { foreignSecrets, mostInWindow } = sandbox.statistics();
    expect({ name, foreignSecrets }).toEqual({ name, foreignSecrets: 0 });
    expect(mostInWindow, `the fullest window of ${name}`).toBeLessThanOrEqual(RATE_LIMIT.requests);
  }
}

/** Checks that no record, marked deleted or not, is in two schemas. */
export async function expectDisjoint({ base }: Fleet, programs: readonly FleetProgram[]): Promise<void> {
  for (const table of ['affiliates', 'referrals', 'links', 'campaigns', 'commissions', 'sales']) {
    const parts = programs.map(({ schema }) => `select '${schema}' as schema, id from ${schema}.${table}`);
    const { rows } = await base.query(
      `select id, array_agg(schema) as schemas from (${parts.join(' union all ')}) every
       group by id having count(*) > 1 limit 5`,
    );
    expect(rows, `records of ${table} in two schemas`).toEqual([]);
  }
}

/** Checks whether anything of the program was ever read. */
export async function expectRead(programs: readonly FleetProgram[], isRead: boolean): Promise<void> {
  for (const { name, pool } of programs) {
    const { rows } = await pool.query('select exists (select from affiliates) as is_read');
    expect(rows, name).toEqual([{ is_read: isRead }]);
  }
}

/**
 * Returns the ticks between two moments after which no run of the resource began in time. One that is under way at a
 * tick is that tick's.
 */
export async function findLateDeltas(
  programs: readonly FleetProgram[],
  fromMs: number,
  toMs: number,
): Promise<object[]> {
  const firstTick = Math.ceil(fromMs / 1000 / DELTA_SECONDS) * DELTA_SECONDS;
  const found = await pMap(
    programs,
    async ({ name, pool }) => {
      const { rows } = await pool.query<object>(
        `select $4::text as program, resource, to_timestamp(tick) as tick, (
           select min(extract(epoch from started_at)) - tick from sync_runs run
           where run.resource = resource.resource and extract(epoch from started_at) >= tick) as started_after
         from unnest(array['affiliates', 'referrals']) as resource,
           generate_series($1::bigint, $2::bigint, $3::bigint) as tick
         where not exists (select from sync_runs run where run.resource = resource.resource
           and extract(epoch from started_at) <= tick + ${DELTA_STARTS_WITHIN}
           and (finished_at is null or extract(epoch from finished_at) > tick))`,
        [firstTick, Math.floor(toMs / 1000) - DELTA_STARTS_WITHIN, DELTA_SECONDS, name],
      );
      return rows;
    },
    { concurrency: 4 },
  );
  return found.flat();
}
