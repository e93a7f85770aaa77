// How far a sync has come.

import { counted } from '../../contract/format.ts';
import type { SyncProgress } from '../../sync/run-summary.ts';
import type { ProgressReading } from '../output/progress.ts';

/** Returns how far a sync has come. */
export function readProgress({ resource, rows, pages, requests, total }: SyncProgress): ProgressReading {
  const done = rows.seen - rows.repeated;
  return {
    label: resource,
    unit: 'rows',
    done,
    total: total ?? done,
    details: [counted(pages, 'page')],
    fields: { resource, rows: done, total, pages, requests },
  };
}
