// From the figures of the mirror to the causes of alerts: which there are now, and of which nobody can say. Pure.

import { type Concern, findConcerns } from '../reports/find-concerns.ts';
import type { Growth } from '../reports/read-growth.ts';
import type { MirrorHealth } from '../reports/read-health.ts';
import { type AlertCode, RULES } from './causes.ts';

/** Without the words of any error. */
export interface Cause {
  readonly code: AlertCode;
  /** Null where it is about none, or of all. */
  readonly resource: string | null;
  readonly what: string;
  readonly fix: string;
  readonly error_code: string | null;
  readonly since: string | null;
}

export interface Findings {
  readonly causes: readonly Cause[];
  /** Whether nobody can say now whether that is well: a cause that is not among those above need not be gone. */
  readonly isUndecided: (code: AlertCode, resource: string | null) => boolean;
}

export interface FindOptions {
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  /** Null where it could not be measured: then nobody can say how full the disk is. */
  readonly growth: Growth | null;
  readonly isQueueAway: boolean;
}

/** Codes of errors are made of these; anything else is no code, and might be text. */
const CODE = /^[A-Z0-9_]{1,60}$/;

/** Returns the causes at this moment. */
export function findCauses(
  figures: MirrorHealth,
  { isQueueAway, growth, maxAgeSeconds }: FindOptions,
): Findings {
  const options = { maxAgeSeconds, ...(growth !== null && { growth }) };
  const causes = findConcerns(figures, options).flatMap(toCause);
  const syncing = new Set(
    figures.resources
      .filter(({ last_run_state }) => last_run_state === 'running')
      .map(({ resource }) => resource),
  );
  return {
    causes: isQueueAway ? [QUEUE_AWAY, ...causes] : causes,
    isUndecided(code, resource) {
      if (code === 'disk_filling' && growth === null) return true;
      const { undecidedWhileSyncing: which } = RULES[code];
      if (which === 'nothing') return false;
      if (which === 'any') return syncing.size > 0;
      if (which === 'own') return resource !== null && syncing.has(resource);
      return which.some((one) => syncing.has(one));
    },
  };
}

const QUEUE_AWAY: Cause = {
  code: 'queue_away',
  resource: null,
  what: 'the queue does not answer any worker: nothing is synced or paid',
  fix: 'affiliate-mirror doctor',
  error_code: null,
  since: null,
};

function toCause({ code, resource, summary, fix, error_code, since }: Concern): Cause[] {
  if (code === 'throttled') return [];
  const safeCode = error_code !== null && CODE.test(error_code) ? error_code : null;
  return [
    {
      code,
      resource: RULES[code].isOfAllResources ? null : resource,
      what: summary,
      fix,
      error_code: safeCode,
      since,
    },
  ];
}
