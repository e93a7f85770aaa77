// Many programs in three workers while everything fails, on both queues: what befalls one program holds up no other,
// and in the end every schema equals its program.

import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import { expect, test } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { KINDS } from '../worker/queue/queueing.ts';
import { type Fleet, type FleetProgram, makeFleet, makeServer, type Special } from './fleet.ts';
import { emptyQueue, lockTable, startDrift } from './fleet-events.ts';
import {
  expectDisjoint,
  expectEqual,
  expectLawful,
  expectRead,
  findLateDeltas,
  untilSyncedSince,
} from './fleet-outcome.ts';
import { makePayer, type Payer, preparePayments } from './fleet-payments.ts';
import { countConnections, type FleetWorker, startFleetWorker, untilServing } from './fleet-workers.ts';

/** FLEET=40 asks for more: two cores that others use as well start no delta of so many in time. */
const PROGRAMS = Number(process.env['FLEET'] ?? 16);
/** In the file from its change on. */
const ADDED = 2;
const NAMES = Array.from(
  { length: PROGRAMS + ADDED },
  (_, index) => `p${String(index + 1).padStart(2, '0')}`,
);
const WORKERS = ['worker1', 'worker2', 'worker3'] as const;
const STOPPED_MS = 20_000;
/** The run that is under way when a program leaves the file may send so long. */
const LEAVING_MS = 10_000;

const MIXED = { '5xx': 0.04, reset: 0.02, 'reset-after': 0.02, cut: 0.02, html: 0.02, '429': 0.01 };
const MOST = { referrals: 250 };
/** How the first programs differ from the others. */
const SPECIAL = {
  p01: { ...MOST, optionalLists: ['commissions', 'payouts'] },
  p02: { ...MOST, optionalLists: ['commissions', 'payouts'] },
  p03: MOST,
  p04: MOST,
  p05: { ...MOST, faults: { shares: MIXED, exact: [] } },
  // For ever.
  p06: { faults: { shares: { '429': 1 }, exact: [] } },
  p07: { faults: { shares: { stall: 1 }, exact: [] } },
  p12: { faults: { shares: MIXED, exact: [] } },
} satisfies Record<string, Special>;

const postgres = await makeServer(NAMES);

/** The programs by the part that they have in the test. */
function cast({ programs }: Fleet) {
  const [p1, p2, p3, p4, p5, throttled, silent, refused, down, locked, removed, faulty, ...others] = programs;
  if (
    !(p1 && p2 && p3 && p4 && p5 && throttled && silent && refused && down && locked && removed && faulty)
  ) {
    throw new Error('there are too few programs');
  }
  const added = others.splice(-ADDED);
  return {
    payers: [p1, p2, p3, p4, p5],
    unreadable: [throttled, silent],
    ...{ throttled, silent, refused, down, locked, removed, faulty, added },
    /** Nothing ever befalls these. */
    healthy: [p1, p2, p3, p4, ...others],
    others,
  };
}

test.for(KINDS)(`${PROGRAMS} programs in three workers outlive everything (%s)`, async (kind) => {
  const fleet = await makeFleet(kind, postgres, NAMES, SPECIAL);
  const { refused, down, locked, removed, added, ...parts } = cast(fleet);
  const first = fleet.programs.filter((program) => !added.includes(program));
  const last = fleet.programs.filter((program) => program !== removed);
  const isReadable = (program: FleetProgram) => !parts.unreadable.includes(program);
  const readable = last.filter(isReadable);
  await preparePayments(fleet, parts.payers);
  await writeFile(refused.secretFile, 'no-secret');
  await fleet.list(first);
  const connections = countConnections(fleet);
  const workers = await pMap(WORKERS, (user) => startFleetWorker(fleet, user));
  const [killed, stopped, steady] = workers as [FleetWorker, FleetWorker, FleetWorker];
  for (const worker of workers) await untilServing(worker, first.filter(isReadable));
  await untilSyncedSince(parts.healthy, 0);

  // What befalls single programs.
  const endDrift = startDrift(fleet, [...parts.others.slice(0, 10), parts.faulty, down]);
  down.sandbox.setFaults({ shares: { reset: 1 }, exact: [] });
  const unlock = await lockTable(fleet, locked);
  const payers = parts.payers.map((program) => makePayer(fleet, program));
  const [one, two, three, four, five] = payers as [Payer, Payer, Payer, Payer, Payer];
  const beganMs = Date.now();
  for (const payer of [one, two]) await payer.payOut();
  await five.pay(6);
  for (let round = 0; round < 16; round += 1) {
    await pMap([one, two, three, four], (payer) => payer.pay(1));
    await sleep(3000);
  }
  expect(await findLateDeltas(parts.healthy, beganMs, Date.now())).toEqual([]);
  for (const payer of [one, two, three, four]) expect(await payer.findLate()).toEqual([]);

  // They come back, and the file changes.
  await unlock();
  await writeFile(refused.secretFile, refused.secret);
  down.sandbox.setFaults(NO_FAULTS);
  await fleet.list(last);
  for (const payer of payers) await payer.pay(4);
  // Whoever serves the added ones has read the new file.
  for (const worker of workers) await untilServing(worker, readable);
  const leftMs = Date.now();

  // What befalls all of them.
  stopped.child.kill('SIGSTOP');
  const stoppedMs = Date.now();
  await emptyQueue(fleet);
  for (const payer of payers) await payer.pay(2);
  killed.child.kill('SIGKILL');
  await sleep(STOPPED_MS - (Date.now() - stoppedMs));
  stopped.child.kill('SIGCONT');
  await postgres.stop();
  await postgres.start();
  await endDrift();

  await expect.poll(async () => (await pMap(payers, (payer) => payer.pending())).join()).toBe('0,0,0,0,0');
  await untilSyncedSince(readable, Date.now());
  for (const { child } of [stopped, steady]) child.kill('SIGTERM');
  expect(await Promise.all([stopped.ended, steady.ended])).toEqual([0, 0]);

  expectLawful(fleet.programs);
  expect(removed.sandbox.requests.filter(({ receivedAt }) => receivedAt > leftMs + LEAVING_MS)).toEqual([]);
  for (const payer of payers) await payer.expectPaidOnce();
  await expectEqual(readable);
  await expectRead(parts.unreadable, false);
  await expectRead([removed], true);
  await expectDisjoint(fleet, fleet.programs);
  expect([...connections.postgres.keys()].sort()).toEqual(WORKERS);
  for (const [user, count] of connections.postgres) expect(count, user).toBeLessThanOrEqual(12);
  for (const [user, count] of connections.redis) expect(count, user).toBeLessThanOrEqual(3);
});
