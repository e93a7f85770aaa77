// How long each view of the reports takes on a large mirror, read whole as an analyst reads it, and the plan of the
// slowest. Postgres' own time: sending a million rows to this process is no part of it.

import type { BenchDatabase } from './bench-database.ts';
import { median } from './figures.ts';
import { fillMirror, type MirrorSizes } from './fill-mirror.ts';
import type { BenchDeps } from './measure-round.ts';

const REPETITIONS = 3;
const MOST_SECONDS = 2;
/** A role without a right to the tables: what is masked is masked as it is for an analyst. */
const ANALYST = 'bench_analyst';

export async function measureReports(
  { postgres, figures, say }: Pick<BenchDeps, 'postgres' | 'figures' | 'say'>,
  sizes: MirrorSizes,
): Promise<void> {
  const of = `${sizes.referrals.toLocaleString('en')} referrals and ${sizes.commissions.toLocaleString('en')} commissions`;
  say(`the views of the reports, on ${of}`);
  const database = await postgres.createDatabase();
  await fillMirror(database.pool, sizes);
  await database.pool.query(`
    create role ${ANALYST};
    grant usage on schema mirror_reports to ${ANALYST};
    grant select on all tables in schema mirror_reports to ${ANALYST}`);
  const { rows } = await database.pool.query<{ view: string }>(
    `select relname as view from pg_class where relnamespace = 'mirror_reports'::regnamespace order by relname`,
  );
  let slowest = { seconds: 0, view: '', plan: '' };
  for (const { view } of rows) {
    const runs: Explained[] = [];
    for (let run = 0; run < REPETITIONS; run += 1) runs.push(await explain(database, view));
    const seconds = median(runs.map((run) => run.seconds));
    for (const run of runs) {
      figures.add(`${view}, of ${of}`, 's', run.seconds, { most: MOST_SECONDS });
    }
    if (seconds > slowest.seconds) slowest = { seconds, view, plan: runs.at(-1)?.plan ?? '' };
  }
  say(`the slowest view is ${slowest.view}:\n${slowest.plan}`);
  await database.pool.query(`drop owned by ${ANALYST}; drop role ${ANALYST}`);
  await database.drop();
}

interface Explained {
  readonly seconds: number;
  readonly plan: string;
}

async function explain({ pool }: BenchDatabase, view: string): Promise<Explained> {
  const client = await pool.connect();
  try {
    await client.query(`set role ${ANALYST}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, timing off) select * from mirror_reports.${view}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    const spent = [...plan.matchAll(/^(?:Planning|Execution) Time: ([\d.]+) ms/gm)];
    return { plan, seconds: spent.reduce((sum, [, ms]) => sum + Number(ms), 0) / 1000 };
  } finally {
    await client.query('reset role');
    client.release();
  }
}
