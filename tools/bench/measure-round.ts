// One round at one size: a full sync, what came of it again and again, and the three baselines, all on one database.

import { measureCopy, measureFetch, measureRowByRow, readRows } from './baselines.ts';
import type { BenchDatabase, BenchPostgres } from './bench-database.ts';
import type { Figures } from './figures.ts';
import type { ProgramState } from './invent-program.ts';
import { requestsOf, runSync, type SyncRun } from './run-sync.ts';
import type { CommandDeps } from './start-command.ts';
import type { PageServers } from './start-page-server.ts';

export interface BenchDeps extends CommandDeps {
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
/** What payments are measured by. */
export const ROW_BY_ROW = 'C: rows per second';
/** At every size. */
export const MOST_MEMORY_MB = 250;

/** Returns the program of a size: an affiliate for every hundred referrals. */
export function programOf(referrals: number): ProgramState {
  return { affiliates: Math.ceil(referrals / 100), referrals, added: 0, revisitedEvery: 0, converted: 0 };
}

export interface WholeSync extends SyncRun {
  readonly walBytes: number;
  /** Of Postgres; null where it cannot be read. */
  readonly serverCpuMs: number | null;
}

/** A sync through the real command, with what Postgres did for it. */
export async function syncOnce(
  deps: CommandDeps & Pick<BenchDeps, 'postgres'>,
  database: BenchDatabase,
  programUrl: string,
  ...args: readonly string[]
): Promise<WholeSync> {
  await database.pool.query('checkpoint');
  const before = await database.walPosition();
  const readServerMs = deps.postgres.startCpu();
  const run = await runSync(deps, { programUrl, databaseUrl: database.url, rateLimit: 'none' }, ...args);
  const serverCpuMs = readServerMs();
  return { ...run, serverCpuMs, walBytes: (await database.walPosition()) - before };
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
  const copy = await measureCopy(postgres, database.pool, tables);
  const fetchMs = await measureFetch(url);
  const pages = Math.max(1, Math.floor((referrals / 100) * ROW_BY_ROW_SHARE));
  const rowByRow = await measureRowByRow(database.pool, url, pages);
  await database.drop();

  const full = `full sync of ${referrals.toLocaleString('en')} referrals`;
  const inRuns = first.runs.reduce((sum, run) => sum + run.duration_ms, 0);
  figures.add(`${full}, the whole command`, 's', first.wallMs / 1000);
  figures.add('of that starting Node, checking and connecting', 's', (first.wallMs - inRuns) / 1000);
  figures.add('of that CPU time of the process', 's', first.cpuMs / 1000);
  figures.add('A: COPY of the same rows', 's', copy.ms / 1000);
  figures.add('B: fetching and parsing the same pages alone', 's', fetchMs / 1000);
  figures.add(
    'C: one insert … on conflict per row, scaled',
    's',
    (rowByRow.eachCommitted * referrals) / 1000,
  );
  figures.add('C with a transaction per page, scaled', 's', (rowByRow.pageCommitted * referrals) / 1000);
  figures.add('full sync ÷ A', '×', first.wallMs / copy.ms, { most: 2 });
  figures.add('full sync without the start ÷ A', '×', inRuns / copy.ms);
  if (first.serverCpuMs !== null && copy.cpuMs !== null) {
    const cpuMs = first.cpuMs + first.serverCpuMs;
    figures.add('full sync: CPU time of process and Postgres', 's', cpuMs / 1000);
    figures.add('A: CPU time of process and Postgres', 's', copy.cpuMs / 1000);
    figures.add('full sync ÷ A in CPU time of process and Postgres', '×', cpuMs / copy.cpuMs, { most: 2.7 });
  }
  figures.add('full sync ÷ B', '×', first.wallMs / fetchMs);
  figures.add('C ÷ full sync', '×', (rowByRow.eachCommitted * referrals) / first.wallMs, { least: 10 });
  figures.add(
    'C with a transaction per page ÷ full sync',
    '×',
    (rowByRow.pageCommitted * referrals) / first.wallMs,
  );
  figures.add(ROW_BY_ROW, 'rows/s', 1000 / rowByRow.eachCommitted);
  figures.add('rows per second', 'rows/s', rows / (first.wallMs / 1000));
  figures.add('statements per 1,000 rows', '', first.statements / perThousand);
  figures.add('WAL per 1,000 rows', 'kB', first.walBytes / 1000 / perThousand);
  figures.add('requests', '', requestsOf(first));
  figures.add('a page of 100 referrals', 'kB', bytesPerPage / 1000);
  figures.add('peak memory', 'MB', first.peakMemoryBytes / MB, { most: MOST_MEMORY_MB });
  figures.add('unchanged re-sync', 's', again.wallMs / 1000);
  figures.add('its speed beside the first sync', '×', first.wallMs / again.wallMs, { least: 1 });
  figures.add('its WAL per 100,000 rows', 'MB', (again.walBytes / MB) * (100_000 / rows), { most: 1 });
  figures.add('rows that it wrote', '', updated, { most: 0 });
  figures.add('re-sync with 1 % changed', 's', changed.wallMs / 1000);
  figures.add('its WAL per 100,000 rows, 1 % changed', 'MB', (changed.walBytes / MB) * (100_000 / rows));
  figures.add('delta sync, 0.1 % new and 5 converted', 's', delta.wallMs / 1000);
  figures.add('its requests', '', requestsOf(delta));
}
