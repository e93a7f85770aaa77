// The checks of `doctor`, and their report. A check returns what it found and its sentence, or throws the problem with
// its fix.

import { z } from 'zod';
import type { TakePermit } from '../../api/permit.ts';
import { describeError } from '../../base/describe-error.ts';
import { AccessRefused, AppError, ConfigError } from '../../base/errors.ts';
import { makeTakePermit } from '../../budget/shared-budget.ts';
import { counted } from '../../contract/format.ts';
import { checkWorkerAccess, readConnectionLimit, writeForTrial } from '../../db/access/check-access.ts';
import { checkClock } from '../../db/clock.ts';
import { asDatabaseError } from '../../db/database-errors.ts';
import { checkParts } from '../../db/migrate/check-parts.ts';
import { checkSchema } from '../../db/migrate/migrate.ts';
import { probeAccount } from '../../mirror/account.ts';
import { readState, refuseOtherSettings } from '../../mirror/people/stored-state.ts';
import { count, text, yesNo } from '../../reports/fields.ts';
import { openQueue } from '../../worker/queue/backend.ts';
import { checkQueueSchema, findQueueSchema } from '../../worker/queue/queue-tables.ts';
import { checkSchedules } from '../../worker/queue/schedules.ts';
import { readRefusal } from '../../worker/queue/worker-state.ts';
import { command as work } from '../commands/work.ts';
import type { Lifetime } from '../lifetime.ts';
import type { Program } from '../program.ts';
import { listSchedules, listUpcoming } from '../worker/upcoming.ts';

interface Checked<T = true> {
  readonly found: T;
  readonly says: string;
}

/**
 * Compares the limit of connections with the number that a worker needs. The free ones change too quickly to count.
 *
 * Throws: AccessRefused if the limit is too low.
 */
export async function checkConnections({ pool, process }: Program): Promise<Checked> {
  const limit = await readConnectionLimit(pool);
  const { pool: most = 0, queue = 0 } = work.connections ?? {};
  const needed = most + (process.redisUrl === null ? queue : 0);
  if (limit.most < needed) {
    throw new AccessRefused(
      `${limit.of} is limited to ${limit.most}, and a worker holds up to ${needed}: raise that limit, or its jobs will fail for lack of one`,
    );
  }
  return { found: true, says: `${limit.of} is limited to ${limit.most}, and a worker holds up to ${needed}` };
}

/** The queue of a program, or of all listed ones. */
export interface CheckedQueue {
  /** By which it is named. */
  readonly mirrorSchema: string;
  readonly readId: () => Promise<string>;
}

/**
 * Checks whether a worker may write and sees every row, and whether there is room to write.
 *
 * Throws: AccessRefused naming the rights of a worker that the role lacks, or a table with rows that it does not see;
 * the database's errors.
 */
export async function checkRights(
  { pool, database, mirrorSchema, process }: Program,
  queue: CheckedQueue,
): Promise<Checked> {
  await checkWorkerAccess(pool, {
    schema: mirrorSchema,
    queueSchema: findQueueSchema(process.redisUrl, queue.mirrorSchema),
  });
  await writeForTrial(pool);
  return { found: true, says: `the role ${database.session.role} has what a worker needs` };
}

/** Says when each schedule of a worker is next due. Throws: what `checkSchedules` throws. */
export async function checkUpcoming(program: Parameters<typeof listUpcoming>[0]): Promise<Checked> {
  checkSchedules(listSchedules(program));
  const upcoming = listUpcoming(program, Date.now()).map(
    ({ variable, pattern, moment }) => `${variable} (${pattern}) at ${moment}`,
  );
  const says = upcoming.length === 0 ? 'a worker has none' : `a worker's next: ${upcoming.join(', ')}`;
  return { found: true, says };
}

/** Throws: ClockWrong if this machine's clock is too far off. */
export async function checkMachineClock({ db }: Program): Promise<Checked> {
  let says = "it agrees with the database's";
  await checkClock(db, (difference) => {
    says = `${difference}: correct it before it is more`;
  });
  return { found: true, says };
}

/**
 * Finds the request budget.
 *
 * Throws: what `checkSchema` and `checkParts` throw; PersonalDataMismatch if the tables keep personal data in another
 * mode than the configured one.
 */
export async function checkTables(program: Program): Promise<Checked<TakePermit>> {
  const { pool, db, log, mirrorSchema, personalData, rateLimit, timeoutMs } = program;
  await checkSchema(pool, { schema: mirrorSchema });
  await checkParts(pool, mirrorSchema);
  refuseOtherSettings(personalData, await readState(db));
  const { mode } = personalData;
  return {
    found: makeTakePermit({ db, log }, { rateLimit, priority: 'reads', requestTimeoutMs: timeoutMs }),
    says: `the schema ${mirrorSchema} is up to date${mode === 'plain' ? '' : `, and keeps personal data as ${mode}`}`,
  };
}

/**
 * Opens the queue, and closes it again.
 *
 * Throws: ConfigError with what a worker would warn of; what `checkQueueSchema` and `openQueue` throw.
 */
export async function checkQueue(
  { pool, log, database, process }: Program,
  { mirrorSchema, readId }: CheckedQueue,
): Promise<Checked> {
  const settings = { redisUrl: process.redisUrl, mirrorSchema, databaseUrl: database.url };
  await checkQueueSchema(pool, settings);
  const backend = await openQueue({ log }, settings, await readId());
  await backend.close();
  if (backend.warnings.length > 0) throw new ConfigError(backend.warnings);
  return { found: true, says: `${backend.name} keeps it` };
}

/** Returns the end of a sentence, if no job of the program asks the API; else nothing. */
export async function describeRefusal({ db }: Program): Promise<string> {
  const code = await readRefusal(db);
  return code === null ? '' : `; no job asks the API, since a worker met ${code}`;
}

/**
 * `db` is the mirror; null if it has no tables. Throws: ProgramChanged if the API has none of the records that the
 * mirror has; what `ApiClient.list` throws.
 */
export async function checkAccount(
  deps: Parameters<typeof probeAccount>[0],
  url: string,
  { signal }: Lifetime,
): Promise<Checked> {
  const total = await probeAccount(deps, { signal });
  return { found: true, says: `${url} accepts the secret, and has ${counted(total, 'affiliate')}` };
}

const check = z.object({
  subject: text('what was looked at'),
  state: z.enum(['passed', 'failed', 'not_checked']),
  says: z
    .array(z.string())
    .describe('what was found; each problem and how to fix it; or why it was not checked'),
});

export const doctorDocument = z
  .object({
    is_well: yesNo('no check failed'),
    checks: z.array(check).describe('in the order in which they were made'),
    made: count('checks that were made'),
    failed: count('those of them that failed'),
  })
  .meta({ title: 'affiliate-mirror doctor --json' });

export type DoctorDocument = z.infer<typeof doctorDocument>;

/** The document with PROGRAMS_FILE. */
export const doctorProgramsDocument = doctorDocument
  .extend({
    checks: z.array(check).describe('of what the programs share, in the order in which they were made'),
    programs: z
      .array(
        z.object({
          program: text('its name in PROGRAMS_FILE'),
          is_well: yesNo('none of its checks failed'),
          checks: z.array(check),
        }),
      )
      .describe('in the order of the file'),
  })
  .meta({ title: 'affiliate-mirror doctor --json, with PROGRAMS_FILE' });

export type DoctorProgramsDocument = z.infer<typeof doctorProgramsDocument>;

export interface Report {
  readonly checks: readonly DoctorDocument['checks'][number][];
  /** Returns what was found; null if the check failed. */
  readonly check: <T>(subject: string, run: () => Promise<{ found: T; says: string }>) => Promise<T | null>;
  /** Notes that the subjects are not checked for that reason. */
  readonly leaveOut: (subjects: readonly string[], reason: string) => void;
}

/**
 * Returns an empty report; every line is printed as soon as it is known, with `start` before its subject. A bug in a
 * check is thrown.
 */
export function makeReport(signal: AbortSignal, print: (line: string) => void, start = ''): Report {
  const checks: DoctorDocument['checks'] = [];
  return {
    checks,
    async check(subject, run) {
      signal.throwIfAborted();
      try {
        const { found, says } = await run();
        checks.push({ subject, state: 'passed', says: [says] });
        print(`✓ ${start}${subject}: ${says}`);
        return found;
      } catch (thrown) {
        // After a stop, the stop is why the check failed.
        signal.throwIfAborted();
        const error = asDatabaseError(thrown);
        if (!(error instanceof AppError)) throw error;
        const says = error instanceof ConfigError ? [...error.problems] : [describeError(error)];
        checks.push({ subject, state: 'failed', says });
        for (const problem of says) print(`✗ ${start}${subject}: ${problem}`);
        return null;
      }
    },
    leaveOut(subjects, reason) {
      const says = [`not checked while ${reason}`];
      checks.push(...subjects.map((subject) => ({ subject, state: 'not_checked' as const, says })));
      print(`– ${start}${subjects.join(', ')}: not checked while ${reason}`);
    },
  };
}
