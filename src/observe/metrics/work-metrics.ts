// The metrics of a program's work: payments, known commissions and request budget. Workers share it, so that every
// worker reports the same.

import { each, type ProgramMetric, single } from './metric.ts';

export const WORK_METRICS: readonly ProgramMetric[] = [
  {
    name: 'commission_updates',
    help: 'Requests for commission updates in the payment ledger.',
    labels: ['state'],
    samples: ({ figures }) =>
      each(
        figures?.payments.states,
        ({ state }) => ({ state }),
        ({ requests }) => requests,
      ),
  },
  {
    name: 'payments_failed',
    help: 'Requests that failed, without a newer one for the same value of their commission or payout.',
    samples: ({ figures }) => single(figures?.payments.failed),
    isReadByRules: true,
  },
  {
    name: 'payments_neglected',
    help: 'Requests that are due for minutes, while no worker processes any.',
    samples: ({ figures }) => single(figures?.payments.neglected),
    isReadByRules: true,
  },
  {
    name: 'oldest_pending_update_age_seconds',
    help: 'Age of the oldest pending request; 0 if there is none.',
    samples: ({ figures }) => single(figures && (figures.oldestPendingSeconds ?? 0)),
    isReadByRules: true,
  },
  {
    name: 'commission_sums_differing',
    help: 'Sums of commissions that differ from those of the API. Absent if it does not list commissions.',
    samples: ({ figures }) => single(figures?.commission_differences),
    isReadByRules: true,
  },
  {
    name: 'tracked_commissions',
    help: 'Known commissions that are asked for one by one; due, unanswered: part of tracked; gone: no longer.',
    labels: ['state'],
    samples: ({ figures }) => {
      if (!figures?.more) return [];
      const { tracked, due, unanswered, gone } = figures.more.tracked;
      return Object.entries({ tracked, due, unanswered, gone }).map(([state, value]) => ({
        labels: { state },
        value,
      }));
    },
  },
  {
    name: 'budget_used_requests',
    help: 'Permits in use: of requests in flight, or answered less than a window ago.',
    samples: ({ figures }) => single(figures?.budget.used_requests),
  },
  {
    name: 'budget_foreign_requests',
    help: 'Requests of this window that another client of the account must have sent.',
    samples: ({ figures }) => single(figures?.budget.foreign_requests),
  },
  {
    name: 'budget_limit_requests',
    help: 'Requests that a window may have: API_RATE_LIMIT, or less if the API says so. Absent without.',
    samples: ({ figures, program: { rateLimit } }) =>
      single(figures && (figures.budget.limit_requests ?? rateLimit?.requests ?? null)),
  },
  {
    name: 'budget_window_seconds',
    help: 'Length of a window of the request budget. Absent without a limit.',
    samples: ({ program: { rateLimit } }) => single(rateLimit?.windowSeconds),
  },
  {
    name: 'budget_paused',
    help: 'Whether a pause that the API asked for (429) lasts.',
    samples: ({ figures }) => single(figures && figures.budget.paused_until !== null),
  },
];
