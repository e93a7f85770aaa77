// What an export takes: every format to a file, and Parquet to a bucket that is served by this process.

import { join } from 'node:path';
import { fillReferrals } from '../../test/exports/odd-rows.ts';
import { BUCKET, startObjectStorage } from '../../test/support/object-storage.ts';
import type { BenchDeps } from './measure-round.ts';
import { runExport } from './run-export.ts';
import { makeDirectory } from './start-child.ts';

/** Excel has no more rows in a sheet, and nobody reads as many. */
const MOST_WORKBOOK_ROWS = 200_000;
/** For a million rows (issue 16). */
const MOST_PARQUET_MB = 200;

export async function measureExports(
  deps: Omit<BenchDeps, 'server'>,
  { rows }: { rows: number },
): Promise<void> {
  const { cleanup, postgres, figures, say } = deps;
  const database = await postgres.createDatabase();
  await fillReferrals(database.pool, rows);
  const storage = await startObjectStorage();
  cleanup.defer(() => storage.close());
  const environment = { DATABASE_URL: database.url, ...storage.environment };
  const directory = makeDirectory(cleanup, 'affiliate-mirror-bench-exports-');
  const measure = async (format: string, target: string, count: number, ...args: readonly string[]) => {
    const name = `export of ${count.toLocaleString('en')} rows as ${format} to a ${target.startsWith('s3:') ? 'bucket' : 'file'}`;
    say(name);
    const measured = await runExport(
      deps,
      ['mirror.referrals', '--format', format, '-o', target, ...args],
      environment,
    );
    figures.add(name, 's', measured.seconds);
    figures.add(`CPU time of the ${name}`, 's', measured.cpuSeconds);
    const most = format === 'parquet' ? { most: MOST_PARQUET_MB } : {};
    figures.add(`peak memory of the ${name}`, 'MB', measured.peakMemoryMb, most);
  };
  await measure('csv', join(directory, 'x.csv'), rows);
  await measure('ndjson', join(directory, 'x.ndjson'), rows);
  await measure('parquet', join(directory, 'x.parquet'), rows);
  await measure('parquet', `s3://${BUCKET}/bench`, rows);
  const some = Math.min(rows, MOST_WORKBOOK_ROWS);
  await measure('xlsx', join(directory, 'x.xlsx'), some, '--where', `_row_number <= ${some}`);
  await database.drop();
}
