// The dry run of every command that asks for updates: what would become of each row, and the exit code of that.

import { type PreviewedUpdate, previewUpdates } from '../../commissions/preview-updates.ts';
import { foreseeAnswers } from '../../commissions/requests/request-updates.ts';
import { BAD_STATES } from '../../commissions/update-request.ts';
import { formatCount } from '../../contract/format.ts';
import type { DryRunDocument, PreviewRow } from '../documents/commissions.ts';
import type { ExitCode } from '../exit-code.ts';
import { isForPeople, printListing } from '../output/format.ts';
import { print, printError } from '../output/print.ts';
import {
  type AskedRow,
  type Earlier,
  outcomeOf,
  type QueueFlags,
  readLatestOf,
  reportAskedBefore,
  reportWaitingBefore,
  requestOf,
} from './asked.ts';
import { previewListing, previewOf, previewOfRepeated } from './listings.ts';
import { makeBatchProgress } from './progress.ts';
import type { ProgramSession } from './session.ts';
import { describeStateTotals, renderStateTotals, totalsByState } from './totals.ts';

/** Returns the exit code, after printing what would become of the rows. Only reads the program. */
export async function previewRows(
  session: ProgramSession,
  rows: readonly AskedRow[],
  flags: QueueFlags,
): Promise<ExitCode> {
  const { reader, db, concurrency, signal, amountUnit } = session;
  const answers = await foreseeAnswers(db, rows.map(requestOf));
  const latest = await readLatestOf(
    db,
    answers.flatMap(({ id }) => id ?? []),
  );
  const repeated = answers.map(({ id, ...answer }): Earlier | null =>
    id === null ? null : { ...answer, id, now: latest.get(id) },
  );
  const anew = rows.filter((_, index) => repeated[index] === null);
  const requests = anew.map(({ request }) => request);
  const progress = makeBatchProgress(anew.length, session);
  const previewed: PreviewedUpdate[] = [];
  try {
    for await (const row of previewUpdates({ client: reader, db }, requests, {
      concurrency,
      signal,
      amountUnit,
    })) {
      previewed.push(row);
      progress.show({ pending: anew.length - previewed.length });
    }
  } finally {
    progress.finish();
  }
  // Taken one by one: to take the first of a long array moves all the others.
  const left = previewed.values();
  const listed = rows.flatMap((row, index): PreviewRow[] => {
    const earlier = repeated[index] ?? null;
    if (earlier !== null) return [previewOfRepeated(row, earlier)];
    const next = left.next().value;
    return next === undefined ? [] : [previewOf(row, next)];
  });
  await flags.onOutcomes?.(listed.map((row) => ({ ...row, state: row.would, outcome: outcomeOf(row) })));
  const totals = totalsByState(listed.map((row) => ({ ...row, state: row.would })));
  const documentOf = (documented: object[]): DryRunDocument => ({
    dry_run: true,
    totals: describeStateTotals(totals, 'would', amountUnit),
    rows: documented,
  });
  printListing(previewListing(listed, amountUnit, documentOf), flags);
  if (isForPeople(flags) && listed.length > 0) print(renderStateTotals(totals, 'would', amountUnit));
  const counts = Map.groupBy(listed, ({ would }) => would);
  const words = [...counts].map(([would, of]) => `${formatCount(of.length)} ${would}`).join(', ');
  printError(`dry run: nothing was queued or changed. ${words}`);
  // What applying it would say of them, and end with.
  const isWorrying = reportAskedBefore(rows, repeated);
  const isBehind = reportWaitingBefore(rows, answers);
  const hasBadRow = listed.some(({ would }) => BAD_STATES.some((state) => state === would));
  return isWorrying || isBehind || hasBadRow ? 3 : 0;
}
