// The growth for whoever asks again and again. Measuring takes a third of a second where tables are large, so what was
// measured is kept; what is free on the disk is asked anew each time.

import { keepResult } from './kept-reading.ts';
import { measureTables } from './measure-tables.ts';
import { type DiskSpace, type Growth, judgeGrowth } from './read-growth.ts';
import { type Reader, sayQuery } from './shown-query.ts';

export interface KeptGrowth {
  readonly growth: Growth;
  /** The statement that gave the figures of the tables. */
  readonly sql: string;
  /** When measuring began, by this machine's clock, as ISO 8601. */
  readonly asOf: string;
}

/** Returns the growth, as it was measured a moment ago. `readSpace` returns null where the space is not known. */
export async function readKeptGrowth({
  db,
  mirrorSchema,
  readSpace,
}: Reader & { readonly readSpace: () => Promise<DiskSpace | null> }): Promise<KeptGrowth> {
  const { measured, asOf } = await keepResult(db, 'growth', async () => ({
    asOf: new Date().toISOString(),
    measured: await measureTables(db, (table) => `"${mirrorSchema}".${table}`),
  }));
  return { growth: judgeGrowth(measured, await readSpace()), sql: sayQuery(db, measured.query), asOf };
}
