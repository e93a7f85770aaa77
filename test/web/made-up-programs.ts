// Programs of a made-up PROGRAMS_FILE for the list, in every state.

import type { Database } from '../../src/db/database.ts';
import { type ProgramFigures, summarize } from '../../src/reports/program-summary.ts';
import type { PageProgram, ProgramCondition } from '../../src/web/status-page.ts';
import { type GivenHealth, makeHealth, THEN } from '../reports/make-health.ts';
import { viewDepsOf } from '../support/status-page.ts';

export interface MadeUp {
  readonly condition?: ProgramCondition;
  readonly health?: GivenHealth;
  readonly figures?: Partial<ProgramFigures> | null;
  /** Left out: none of its views can be read. */
  readonly db?: Database;
}

/** Returns the program, well unless something is given. */
export function makeUp(name: string, { condition, health, figures, db }: MadeUp = {}): PageProgram {
  const summary = summarize(makeHealth(health), { maxAgeSeconds: 26 * 3600, program: name });
  return {
    name,
    viewDeps: viewDepsOf(db ?? ({} as Database), `mirror_${name.replaceAll('-', '_')}`),
    condition: condition ?? { state: 'serving' },
    readFigures: () => (figures === null ? null : { summary, ageSeconds: 12, error: null, ...figures }),
  };
}

const FAILED = {
  last_run_state: 'failed',
  failing_since: THEN,
  last_run_error_code: 'API_UNREACHABLE',
  last_run_error: 'no answer from Ada at api.example.com',
} as const;

export const IN_EVERY_STATE: Readonly<Record<string, MadeUp>> = {
  'north-outdoor': { condition: { state: 'paused', reason: 'the API refuses the secret' } },
  'paused-early': {
    condition: { state: 'paused', reason: 'its schema is not migrated: run affiliate-mirror migrate' },
    figures: null,
  },
  locked: {
    figures: { error: Object.assign(new Error('locked by ada'), { code: '55P03' }), ageSeconds: 340 },
  },
  acme: { health: { resources: [FAILED, { resource: 'affiliates', deletions_held_back: 3 }] } },
  'late-shop': { health: { resources: [{ changes_age_seconds: 200_000 }] } },
  payer: {
    health: {
      payments: {
        states: [
          { state: 'pending', requests: 1200, needing_attention: 0 },
          { state: 'failed', requests: 3, needing_attention: 2 },
        ],
        failed: 2,
        failed_since: THEN,
      },
    },
  },
  throttled: { health: { budget: { paused_until: '2026-01-02T00:05:00Z', last_throttled_at: THEN } } },
  newcomer: { figures: null, condition: { state: 'starting' } },
  syncing: { health: { resources: [{ last_run_state: 'running', last_run_saved_age_seconds: 2 }] } },
};
