// One round at one size: a full sync, what came of it again and again, and the three baselines, all on one database.

import { measureCopy, measureFetch, measureRowByRow, readRows } from './baselines.ts';
import type { BenchDatabase, BenchPostgres } from './bench-database.ts';
import type { Figures } from './figures.ts';
import type { ProgramState } from './invent-program.ts';
import { runSync, type SyncRun } from './run-sync.ts';
import type { PageServers } from './start-page-server.ts';

export interface BenchDeps {
  /** Cleans up when the bench ends, however it does. */
  readonly cleanup: AsyncDisposableStack;
  readonly postgres: BenchPostgres;
  readonly server: PageServers;
  readonly figures: Figures;
  say(line: string): void;
}

/** Of the pages, for baseline C: it takes minutes, and its cost per row does not change. Five rounds make a tenth. */
const ROW_BY_ROW_SHARE = 0.02;
const REVISITED_EVERY = 100;
const ADDED_SHARE = 0.001;
const CONVERTED = 5;
const MB = 1_000_000;

/** Returns the program of a size: an affiliate for every hundred referrals. */
export function programOf(referrals: number): ProgramState {
  return { affiliates: Math.ceil(referrals / 100), referrals, added: 0, revisitedEvery: 0, converted: 0 };
}

/** A sync through the real command, with what it wrote to the WAL. */
export async function syncOnce(
  deps: Pick<BenchDeps, 'cleanup'>,
  database: BenchDatabase,
  programUrl: string,
  ...args: readonly string[]
): Promise<SyncRun & { readonly walBytes: number }> {
  await database.pool.query('checkpoint');
  const before = await database.walPosition();
  const run = await runSync(deps, { programUrl, databaseUrl: database.url, rateLimit: 'none' }, ...args);
  return { ...run, walBytes: (await database.walPosition()) - before };
}

export async function measureRound(deps: BenchDeps, referrals: number): Promise<void> {
  const { postgres, server, figures } = deps;
  const program = programOf(referrals);
  const rows = referrals + program.affiliates;
  const perThousand = rows / 1000;
  const { url, bytesPerPage } = await server.serve(program);
  const database = await postgres.createDatabase();
  const first = await syncOnce(deps, database, url);
  const tables = await readRows(database.pool);

  // Hours lie between two syncs, in which autovacuum comes by; here it would do so within the re-sync, or not, as its
  // minute has it. Its first pass marks every new page as visible, which costs the whole page in the WAL (data
  // checksums are on since Postgres 18). Measured: 9 to 32 MB that no statement of a sync writes, beside 0.6 MB.
  await database.pool.query('vacuum (analyze)');
  const again = await syncOnce(deps, database, url);
  const updated = again.runs.reduce((sum, run) => sum + run.rows_updated + run.rows_inserted, 0);
  await server.serve({ ...program, revisitedEvery: REVISITED_EVERY });
  const changed = await syncOnce(deps, database, url);
  const moved = { ...program, revisitedEvery: REVISITED_EVERY, added: Math.ceil(referrals * ADDED_SHARE) };
  await server.serve({ ...moved, converted: CONVERTED });
  const delta = await syncOnce(deps, database, url, '--mode', 'delta');

  await server.serve(program);
  const copyMs = await measureCopy(database.pool, tables);
  const fetchMs = await measureFetch(url);
  const pages = Math.max(1, Math.floor((referrals / 100) * ROW_BY_ROW_SHARE));
  const rowByRow = await measureRowByRow(database.pool, url, pages);
  await database.drop();

  const full = `full sync of ${referrals.toLocaleString('en')} referrals`;
  const inRuns = first.runs.reduce((sum, run) => sum + run.duration_ms, 0);
  figures.add(`${full}, the whole command`, 's', first.wallMs / 1000);
  figures.add('of that starting Node, checking and connecting', 's', (first.wallMs - inRuns) / 1000);
  figures.add('of that CPU time of the process', 's', first.cpuMs / 1000);
  figures.add('A: COPY of the same rows', 's', copyMs / 1000);
  figures.add('B: fetching and parsing the same pages alone', 's', fetchMs / 1000);
  figures.add(
    'C: one insert … on conflict per row, scaled',
    's',
    (rowByRow.eachCommitted * referrals) / 1000,
  );
  figures.add('C with a transaction per page, scaled', 's', (rowByRow.pageCommitted * referrals) / 1000);
  figures.add('full sync ÷ A', '×', first.wallMs / copyMs, { most: 2 });
  figures.add('full sync without the start ÷ A', '×', inRuns / copyMs);
  figures.add('full sync ÷ B', '×', first.wallMs / fetchMs);
  figures.add('C ÷ full sync', '×', (rowByRow.eachCommitted * referrals) / first.wallMs, { least: 10 });
  figures.add(
    'C with a transaction per page ÷ full sync',
    '×',
    (rowByRow.pageCommitted * referrals) / first.wallMs,
  );
  figures.add('rows per second', 'rows/s', rows / (first.wallMs / 1000));
  figures.add('statements per 1,000 rows', '', first.statements / perThousand);
  figures.add('WAL per 1,000 rows', 'kB', first.walBytes / 1000 / perThousand);
  figures.add(
    'requests',
    '',
    first.runs.reduce((sum, run) => sum + run.requests, 0),
  );
  figures.add('a page of 100 referrals', 'kB', bytesPerPage / 1000);
  figures.add('peak memory', 'MB', first.peakMemoryBytes / MB, { most: 300 });
  figures.add('unchanged re-sync', 's', again.wallMs / 1000);
  figures.add('its speed beside the first sync', '×', first.wallMs / again.wallMs, { least: 1.3 });
  figures.add('its WAL per 100,000 rows', 'MB', (again.walBytes / MB) * (100_000 / rows), { most: 5 });
  figures.add('rows that it wrote', '', updated, { most: 0 });
  figures.add('re-sync with 1 % changed', 's', changed.wallMs / 1000);
  figures.add('its WAL per 100,000 rows, 1 % changed', 'MB', (changed.walBytes / MB) * (100_000 / rows));
  figures.add('delta sync, 0.1 % new and 5 converted', 's', delta.wallMs / 1000);
  figures.add(
    'its requests',
    '',
    delta.runs.reduce((sum, run) => sum + run.requests, 0),
  );
}
