// One program in a line: its state with the most serious concern, its freshness and its payments. For lists of many
// programs, so it counts no rows and does not judge the disk, which all of them share.

import { z } from 'zod';
import type { Database } from '../db/database.ts';
import { readTogether } from '../db/transact.ts';
import { CONCERN_CODES, isMild } from './concern-advice.ts';
import { count, resource, seconds, text, timestamp } from './fields.ts';
import type { Reader, readFigure } from './figure.ts';
import { type Concern, concern, findConcerns } from './find-concerns.ts';
import type { ResourceStatus } from './read-freshness.ts';
import { type MirrorHealth, readHealth } from './read-health.ts';

/** The worst first. */
const PROGRAM_STATES = ['failing', 'warning', 'ok'] as const;

export type ProgramState = (typeof PROGRAM_STATES)[number];

export const programSummary = z.object({
  state: z
    .enum(PROGRAM_STATES)
    .describe('failing: something is wrong; warning: something waits for a user or for time; ok: no concern'),
  concern: concern.nullable().describe('the most serious concern'),
  concerns: count('how many concerns there are'),
  resources: z
    .array(z.object({ resource, as_of: timestamp('start of its last verified run').nullable() }))
    .readonly()
    .describe('how fresh each resource is'),
  as_of: timestamp('the oldest of those; null if a resource was never synced').nullable(),
  age_seconds: seconds('the age of that').nullable(),
  running: z.array(resource).readonly().describe('resources that are being synced'),
  payments_waiting: count('payment requests that are pending'),
  payments_needing_attention: count('payment requests that need attention'),
  last_error_code: text('stable code of the error of the last run that ended with one').nullable(),
});

export type ProgramSummary = z.infer<typeof programSummary>;

export interface SummaryOptions {
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  /** Its name, which the commands of the concern have; null for the one that the environment describes. */
  readonly program: string | null;
  /** Reads the sums of commissions, which takes seconds for hundreds of thousands. Left out: always anew. */
  readonly readSums?: typeof readFigure;
}

/** Returns the summary, read in one transaction. Throws: the database's errors. */
export async function readProgramSummary(
  { db, mirrorSchema }: Reader,
  { readSums, ...options }: SummaryOptions,
): Promise<ProgramSummary> {
  const read = (trx: Database) => readHealth({ db: trx, mirrorSchema }, readSums);
  const { health } = await readTogether(db, read);
  return summarize(health, options);
}

/** Pure. */
export function summarize(
  health: MirrorHealth,
  options: Pick<SummaryOptions, 'maxAgeSeconds' | 'program'>,
): ProgramSummary {
  const { resources, payments } = health;
  const concerns = findConcerns(health, options);
  const oldest = findOldest(resources);
  return {
    state: stateOf(concerns),
    concern: concerns[0] ?? null,
    concerns: concerns.length,
    resources: resources.map(({ resource, changes_as_of }) => ({ resource, as_of: changes_as_of })),
    as_of: oldest?.changes_as_of ?? null,
    age_seconds: oldest?.changes_age_seconds ?? null,
    running: resources
      .filter(({ last_run_state }) => last_run_state === 'running')
      .map(({ resource }) => resource),
    payments_waiting: payments.states.find(({ state }) => state === 'pending')?.requests ?? 0,
    payments_needing_attention: payments.states.reduce((sum, one) => sum + one.needing_attention, 0),
    last_error_code: findLastError(resources),
  };
}

function stateOf(concerns: readonly Concern[]): ProgramState {
  if (concerns.length === 0) return 'ok';
  return concerns.every(isMild) ? 'warning' : 'failing';
}

function findOldest(resources: readonly ResourceStatus[]): ResourceStatus | null {
  const ages = ({ changes_age_seconds }: ResourceStatus) => changes_age_seconds ?? Number.POSITIVE_INFINITY;
  return resources.toSorted((a, b) => ages(b) - ages(a))[0] ?? null;
}

function findLastError(resources: readonly ResourceStatus[]): string | null {
  const failed = resources.filter(({ last_run_error_code }) => last_run_error_code !== null);
  const endOf = ({ last_run_finished_at }: ResourceStatus) => last_run_finished_at ?? '';
  return failed.toSorted((a, b) => (endOf(a) < endOf(b) ? 1 : -1))[0]?.last_run_error_code ?? null;
}

/** The last summary of a program that is read again and again. */
export interface ProgramFigures {
  /** Null if it could never be read. */
  readonly summary: ProgramSummary | null;
  /** How long ago the summary was read; null without one. */
  readonly ageSeconds: number | null;
  /** Why it could not be read since; null if it could. */
  readonly error: unknown;
}

export interface RankedProgram {
  readonly name: string;
  /** Null if it could not be read. */
  readonly summary: Pick<ProgramSummary, 'state' | 'concern'> | null;
}

/**
 * Returns the programs, the worst first: those without a summary, then by state, by the kind of concern, by when it
 * began, and by name. Pure.
 */
export function worstFirst<Program extends RankedProgram>(programs: readonly Program[]): readonly Program[] {
  return programs
    .map((program) => ({ program, key: keyOf(program) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ program }) => program);
}

/** An unknown start comes after the known ones. */
function keyOf({ name, summary }: RankedProgram): string {
  if (summary === null) return `0 ${name}`;
  const { state, concern } = summary;
  const kind = concern === null ? 0 : CONCERN_CODES.indexOf(concern.code);
  return `${1 + PROGRAM_STATES.indexOf(state)} ${String(kind).padStart(2, '0')} ${concern?.since ?? '~'} ${name}`;
}
