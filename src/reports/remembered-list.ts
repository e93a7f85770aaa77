// The status of the commission list for whoever asks again and again. Comparing every sum takes seconds where there are
// hundreds of thousands of commissions, and what it finds changes with a sync: a process compares once after each.

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { type CommissionListStatus, readCommissionList } from './read-commission-list.ts';

/** A page that follows along asks every few seconds, and Prometheus every minute at the most. */
const WATCHED_MS = 60_000;
/** Whoever watches does not wait for longer than this: the next look shows what was found. */
const PATIENCE_MS = 2_000;

interface Remembered {
  known: CommissionListStatus | null;
  /** Of the sync after which it was compared. */
  mark: string | null;
  comparing: Promise<CommissionListStatus> | null;
  askedAtMs: number;
}

const remembered = new WeakMap<Database, Remembered>();

/**
 * Returns the status, as it was after the last sync. Where comparing takes long after a sync, whoever asked within the
 * last minute gets the former answer until the new one is there.
 *
 * Throws: the database's errors.
 */
export async function readRememberedList(db: Database): Promise<CommissionListStatus> {
  const mark = await readMark(db);
  const askedAtMs = performance.now();
  const state = remembered.get(db) ?? { known: null, mark: null, comparing: null, askedAtMs };
  remembered.set(db, state);
  const isWatched = askedAtMs - state.askedAtMs < WATCHED_MS;
  state.askedAtMs = askedAtMs;
  const { known } = state;
  if (known !== null && mark === state.mark) return known;
  state.comparing ??= compare(db, state, mark);
  if (known === null || !isWatched) return state.comparing;
  return Promise.race([state.comparing, sleep(PATIENCE_MS, known, { ref: false })]);
}

async function compare(db: Database, state: Remembered, mark: string): Promise<CommissionListStatus> {
  try {
    state.known = await readCommissionList(db);
    state.mark = mark;
    return state.known;
  } catch (error) {
    // Whoever asks next waits for it again, and sees why.
    state.known = null;
    throw error;
  } finally {
    state.comparing = null;
  }
}

// A sync ended, or the list came into use. Runs of two resources end in any order: the last number does not show it.
async function readMark(db: Database): Promise<string> {
  const answer = await sql<{ mark: string }>`
    select concat(is_used, ' ', (select concat(max(finished_at), ' ', count(finished_at)) from sync_runs)) as mark
    from optional_lists where resource = 'commissions'`.execute(db);
  return onlyRow(answer, 'optional_lists').mark;
}
