// Shows how far a batch has come: a bar where a person watches, a line in the log every few seconds elsewhere.

import { Presets, SingleBar } from 'cli-progress';
import type { StateCounts } from '../commissions/await-updates.ts';
import type { Logger } from '../log.ts';
import { describeCounts } from './commissions-listings.ts';

export interface BatchProgressView {
  show(counts: StateCounts): void;
  /** Takes the bar away. Idempotent: yes. */
  finish(): void;
}

const LOG_INTERVAL_MS = 5_000;
const FORMAT = '{bar} {value} of {total} | {counts}';

/** Returns the view for so many requests. */
export function makeBatchProgress(total: number, { log }: { log: Logger }): BatchProgressView {
  return process.stderr.isTTY === true ? makeBar(total) : makeLines(total, log);
}

function makeBar(total: number): BatchProgressView {
  // Its own handling of signals would end the process under the closers of ours.
  const bar = new SingleBar(
    { format: FORMAT, stream: process.stderr, clearOnComplete: true, gracefulExit: false, barsize: 24 },
    Presets.shades_classic,
  );
  bar.start(total, 0, { counts: '' });
  return {
    show: (counts) => bar.update(total - (counts.pending ?? 0), { counts: describeCounts(counts) }),
    finish: () => bar.stop(),
  };
}

function makeLines(total: number, log: Logger): BatchProgressView {
  let loggedAtMs = performance.now();
  return {
    show(counts) {
      if (performance.now() - loggedAtMs < LOG_INTERVAL_MS) return;
      loggedAtMs = performance.now();
      log.info({ total, ...counts }, 'commissions.progress');
    },
    finish: () => undefined,
  };
}
