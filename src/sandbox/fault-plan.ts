// The kinds of faults, the text form of a plan, and the choice of a fault for each request. deliver.ts carries it out.

import { ConfigError } from '../base/errors.ts';
import { makeRandomness } from './randomness.ts';

/** Every kind of fault, with its effect on the client. */
export const FAULT_KINDS = {
  '5xx': 'an answer 500, 502, 503 or 504; nothing was applied',
  reset: 'the connection is reset before anything was applied',
  'reset-after': 'the connection is reset after the change was applied',
  stall: 'no answer at all; nothing was applied',
  cut: 'the right content-length, and a connection that ends midway; the change was applied',
  truncated: '200 with half of the JSON document; the change was applied',
  html: '200 with an HTML page; nothing was applied',
  'no-envelope': '200 with JSON that is not what the contract says; the change was applied',
  '429': 'an answer 429 without any header; nothing was applied',
  redirect: 'an answer 302 to another path; nothing was applied',
} as const;

export type FaultKind = keyof typeof FAULT_KINDS;

/** Of the matching requests, the first `after` pass, and the next `times` fail. */
export interface ExactFault {
  readonly kind: FaultKind;
  /** 0 if left out. */
  readonly after?: number;
  /** 1 if left out. */
  readonly times?: number;
  /** The path, or one above it: `/v1/commissions` matches every commission. Left out: every path. */
  readonly route?: string;
  /** Left out: every method. */
  readonly method?: 'GET' | 'PUT';
}

export interface FaultPlan {
  /** The share of requests, 0 to 1, that each kind spoils. */
  readonly shares: Readonly<Partial<Record<FaultKind, number>>>;
  /** They take precedence, in this order. */
  readonly exact: readonly ExactFault[];
}

export const NO_FAULTS: FaultPlan = { shares: {}, exact: [] };

/**
 * Returns the plan that texts such as `5xx=0.05` describe.
 *
 * Throws: ConfigError naming every text that is malformed, or a sum of shares above 1.
 */
export function parseFaultPlan(texts: readonly string[]): FaultPlan {
  const problems: string[] = [];
  const shares: Partial<Record<FaultKind, number>> = {};
  for (const text of texts) {
    const [kind = '', share = '', ...rest] = text.split('=');
    const value = /^(0|1|0?\.\d+|[01]\.\d+)$/.test(share) ? Number(share) : Number.NaN;
    if (!isFaultKind(kind) || rest.length > 0 || !(value <= 1)) {
      problems.push(
        `--fault ${text} must be kind=share, such as 5xx=0.05, with a share from 0 to 1 and one of the kinds ${Object.keys(FAULT_KINDS).join(', ')}`,
      );
    } else if (shares[kind] !== undefined) {
      problems.push(`--fault ${kind} is given twice: keep one of them`);
    } else {
      shares[kind] = value;
    }
  }
  const sum = Object.values(shares).reduce((total, share) => total + share, 0);
  // A little above 1 is what ten shares of 0.1 add up to.
  if (sum > 1 + 1e-9) problems.push(`the shares of --fault add up to ${sum}: more than 1`);
  if (problems.length > 0) throw new ConfigError(problems);
  return { shares, exact: [] };
}

function isFaultKind(text: string): text is FaultKind {
  return Object.hasOwn(FAULT_KINDS, text);
}

export type ChooseFault = (method: string, path: string) => FaultKind | null;

/** The same plan and seed spoil the same requests of a sequence. */
export function makeChooseFault(plan: FaultPlan, seed: number): ChooseFault {
  const randomness = makeRandomness(seed);
  const demands = plan.exact.map((fault) => ({ fault, seen: 0 }));
  const shares = Object.entries(plan.shares) as [FaultKind, number][];

  return (method, path) => {
    // Drawn for every request, so that an exact fault does not shift which ones the shares spoil.
    let draw = randomness.next();
    let demanded: FaultKind | null = null;
    for (const demand of demands) {
      if (!matches(demand.fault, method, path)) continue;
      const { kind, after = 0, times = 1 } = demand.fault;
      const isDue = demand.seen >= after && demand.seen < after + times;
      // A request that another demand already spoils does not use this one up.
      if (isDue && demanded !== null) continue;
      demand.seen += 1;
      if (isDue) demanded = kind;
    }
    if (demanded !== null) return demanded;
    for (const [kind, share] of shares) {
      if (draw < share) return kind;
      draw -= share;
    }
    return null;
  };
}

function matches(fault: ExactFault, method: string, path: string): boolean {
  if (fault.method !== undefined && fault.method !== method) return false;
  return fault.route === undefined || path === fault.route || path.startsWith(`${fault.route}/`);
}
