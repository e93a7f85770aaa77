// The work that is yet to be done, as rows: what is here is done sooner or later, whatever the queue forgets.
//
// Why rows beside a queue. A queue's job can be lost (a Redis that comes back empty), be done twice (a worker that
// lost its lock) or be called failed though its work was done (a Postgres that went away just then). A row is deleted
// when its work is done and at no other moment; a job whose row is gone does nothing.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { transact } from '../db/transact.ts';

export type Payload = Readonly<Record<string, unknown>>;

export interface WantedJob {
  /** The same work has the same key; letters, digits and hyphens. */
  readonly key: string;
  /** Of the job in the catalogue. */
  readonly name: string;
  readonly payload: Payload;
}

export interface WantedRow extends WantedJob {
  readonly generation: number;
  readonly wanted_at: Timestamp;
}

export interface JobKind {
  /** How often it may fail in a way that may pass, before it is given up. */
  readonly attempts: number;
  /** Whether the work must be done (once more) although the same key is waiting, or being worked on, already. */
  isNews(waiting: Payload, wanted: Payload): boolean;
  /** What is wanted after it, whether it was done or given up. */
  next(payload: Payload): WantedJob[];
}

export type JobKinds = Readonly<Record<string, JobKind>>;

/** Returns those that were not wanted already: the ones that need a job. Runs in the caller's transaction. */
export async function wantJobs(
  trx: Database,
  kinds: JobKinds,
  jobs: readonly WantedJob[],
): Promise<WantedJob[]> {
  const news: WantedJob[] = [];
  for (const job of jobs) if (await wantJob(trx, kinds, job)) news.push(job);
  return news;
}

async function wantJob(trx: Database, kinds: JobKinds, { key, name, payload }: WantedJob): Promise<boolean> {
  const inserted = await sql`
    insert into wanted_jobs (key, name, payload) values (${key}, ${name}, ${JSON.stringify(payload)}::jsonb)
    on conflict (key) do nothing returning key
  `.execute(trx);
  if (inserted.rows.length > 0) return true;
  const { rows } = await sql<{ payload: Payload }>`
    select payload from wanted_jobs where key = ${key} for update
  `.execute(trx);
  const waiting = rows[0];
  // Done between the two statements, with what was to be done then.
  if (waiting === undefined) return wantJob(trx, kinds, { key, name, payload });
  if (kinds[name]?.isNews(waiting.payload, payload) !== true) return false;
  await sql`
    update wanted_jobs
    set name = ${name}, payload = ${JSON.stringify(payload)}::jsonb, generation = generation + 1
    where key = ${key}
  `.execute(trx);
  return true;
}

/** Returns the row; null where its work is done. */
export async function readWanted(db: Database, key: string): Promise<WantedRow | null> {
  const { rows } = await sql<WantedRow>`select * from wanted_jobs where key = ${key}`.execute(db);
  return rows[0] ?? null;
}

/** Returns every row, oldest first. */
export async function listWanted(db: Database): Promise<WantedRow[]> {
  const { rows } = await sql<WantedRow>`select * from wanted_jobs order by wanted_at, key`.execute(db);
  return rows;
}

/**
 * Deletes the row, and wants what follows in the same transaction; returns what of that needs a job. Where the
 * work was wanted again meanwhile, the row stays: it is to be done once more.
 */
export async function finishWanted(
  db: Database,
  kinds: JobKinds,
  { key, name, payload, generation }: WantedRow,
): Promise<WantedJob[]> {
  return transact(db, async (trx) => {
    const { rows } = await sql`
      delete from wanted_jobs where key = ${key} and generation = ${generation} returning key
    `.execute(trx);
    return rows.length === 0 ? [] : wantJobs(trx, kinds, kinds[name]?.next(payload) ?? []);
  });
}
