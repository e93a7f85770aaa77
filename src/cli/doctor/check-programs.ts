// The checks of the programs of PROGRAMS_FILE: what they share once, then each program's own.

import { adviseOnMirrors } from '../../db/access/count-mirrors.ts';
import { makeDatabase } from '../../db/database.ts';
import { readListQueueId } from '../../worker/queue/worker-state.ts';
import type { Lifetime } from '../lifetime.ts';
import { inScope, workOnEach } from '../many-programs.ts';
import { type Program, startOf } from '../program.ts';
import { checkProgram } from './check-program.ts';
import {
  type CheckedQueue,
  checkConnections,
  checkMachineClock,
  checkQueue,
  checkRights,
  checkTables,
  checkUpcoming,
  describeRefusal,
  makeReport,
  type Report,
} from './checks.ts';

export const SCHEDULES = 'schedules';

export type Say = (line: string) => void;

export interface ProgramReport {
  readonly program: string;
  readonly checks: Report['checks'];
}

interface Listed {
  readonly open: () => Promise<readonly [Program, ...Program[]]>;
  /** By which the queue is named. */
  readonly baseSchema: string;
  readonly lifetime: Lifetime;
  /** Of what the programs share. */
  readonly report: Report;
  readonly say: Say;
}

/** Programs, each of which is asked a few requests. */
const CHECKED_AT_ONCE = 4;

/** Returns the report of each program; none if the database does not answer. */
export async function examineListed({
  open,
  baseSchema,
  lifetime,
  report,
  say,
}: Listed): Promise<ProgramReport[]> {
  const { check, leaveOut } = report;
  const programs = await check('database', async () => {
    const found = await open();
    return { found, says: await describeDatabase(found[0]) };
  });
  if (programs === null) {
    leaveOut(['connections', 'clock', 'queue', 'programs'], 'the database does not answer');
    return [];
  }
  const [first] = programs;
  const base = makeDatabase(first.database.shared.base);
  const queue = { mirrorSchema: baseSchema, readId: () => readListQueueId(base, baseSchema) };
  await check('connections', () => checkConnections(first));
  await check('clock', () => checkMachineClock(first));
  await check('queue', () => checkQueue(first, queue));
  const reports: ProgramReport[] = [];
  const how = { signal: lifetime.signal, concurrency: CHECKED_AT_ONCE };
  const { results } = await workOnEach(programs, how, (program) =>
    inScope(lifetime, async (scoped) => {
      const own = makeReport(scoped.signal, say, startOf(program));
      await examineOne({ ...program, lifetime: scoped }, queue, own);
      return { exitCode: 0, document: { program: program.name ?? '', checks: own.checks } };
    }),
  );
  lifetime.signal.throwIfAborted();
  reports.push(...results.flatMap(({ worked }) => (worked === null ? [] : [worked.document])));
  return reports;
}

async function examineOne(program: Program, queue: CheckedQueue, report: Report): Promise<void> {
  const { check, leaveOut } = report;
  await check(SCHEDULES, () => checkUpcoming(program));
  const rights = await check('rights', () => checkRights(program, queue));
  if (rights === null) leaveOut(['tables'], 'rights are lacking');
  const tables =
    rights &&
    (await check('tables', async () => {
      const { found, says } = await checkTables(program);
      return { found, says: `${says}${await describeRefusal(program)}` };
    }));
  const readAddress = () => {
    if (program.address === null) throw new TypeError('a listed program has an address');
    return program.address;
  };
  await checkProgram(readAddress, program, tables, report);
}

export async function describeDatabase({ pool, database }: Program): Promise<string> {
  const { session, name, isEmbedded } = database;
  const through = session.isPooled ? ', through a pooler in session mode' : '';
  const advice = await adviseOnMirrors(pool);
  const says = `${name} answers${isEmbedded ? ' (embedded)' : ''}${through}`;
  return advice === null ? says : `${says}; ${advice}`;
}
