// What the commands that ask for updates hand on: the rows, and how to answer.

import type { RequestedUpdate } from '../../commissions/requests/request-updates.ts';
import type { UpdateRequest } from '../../commissions/update-request.ts';
import type { OutputFlags } from '../output/format.ts';
import type { RowOutcome } from './apply-outcome.ts';

export interface QueueFlags extends OutputFlags {
  readonly dryRun?: true;
  readonly wait?: true;
  /** Stdout carries another document already: only stderr tells what became of the requests. */
  readonly isStdoutTaken?: boolean;
  /** Called with what became of every row, before anything of it is printed. */
  readonly onOutcomes?: (outcomes: readonly RowOutcome[]) => Promise<void>;
}

/** A request with the line of the file that it is on; null where it comes from no file. */
export interface AskedRow {
  readonly line: number | null;
  readonly request: UpdateRequest;
  /** Whether whoever asks chose the idempotency key: then --again changes nothing about it. */
  readonly hasOwnKey: boolean;
  /** A request that waits and does the same: then there is nothing to queue. */
  readonly waiting?: RequestedUpdate | null;
}
