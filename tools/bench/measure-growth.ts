// How cost grows: the same full sync at other sizes, beside the size of the rounds.

import { median } from './figures.ts';
import { type BenchDeps, MOST_MEMORY_MB, programOf, syncOnce } from './measure-round.ts';

export async function measureGrowth(
  deps: BenchDeps,
  { referrals, others }: { referrals: number; others: readonly number[] },
): Promise<void> {
  const { postgres, server, figures, say } = deps;
  const atHome = new Map(figures.all().map(({ name, values }) => [name, median(values)]));
  for (const size of others) {
    const name = size.toLocaleString('en');
    say(`full sync of ${name} referrals`);
    const program = programOf(size);
    const { url } = await server.serve(program);
    const database = await postgres.createDatabase();
    const run = await syncOnce(deps, database, url);
    await database.drop();
    const rows = size + program.affiliates;
    const perSecond = rows / (run.wallMs / 1000);
    const megabytes = run.peakMemoryBytes / 1_000_000;
    const isLarger = size > referrals;
    figures.add(`${name} referrals: the whole command`, 's', run.wallMs / 1000);
    figures.add(`${name} referrals: rows per second`, 'rows/s', perSecond);
    figures.add(
      `${name} referrals: rows per second beside ${referrals.toLocaleString('en')}`,
      '×',
      perSecond / (atHome.get('rows per second') ?? Number.NaN),
      isLarger ? { least: 0.9 } : undefined,
    );
    figures.add(`${name} referrals: peak memory`, 'MB', megabytes, { most: MOST_MEMORY_MB });
    figures.add(
      `${name} referrals: peak memory beside ${referrals.toLocaleString('en')}`,
      '×',
      megabytes / (atHome.get('peak memory') ?? Number.NaN),
      isLarger ? { most: 1.15 } : undefined,
    );
    figures.add(`${name} referrals: statements per 1,000 rows`, '', run.statements / (rows / 1000));
    figures.add(`${name} referrals: WAL per 1,000 rows`, 'kB', run.walBytes / 1000 / (rows / 1000));
  }
}
