// How long each view of the reports takes on a large mirror, read whole as an analyst reads it, and the plan of the
// slowest. Postgres' own time: sending a million rows to this process is no part of it.

import type { BenchDatabase } from './bench-database.ts';
import { median } from './figures.ts';
import { fillMirror, type MirrorSizes } from './fill-mirror.ts';
import type { BenchDeps } from './measure-round.ts';

const REPETITIONS = 3;
/** Times the baseline: reading the largest table once, as its owner. */
const MOST_READINGS = 12;
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
  const baseline = await explain(database, 'mirror.referrals', null, REPETITIONS);
  figures.add(`reading the table referrals, of ${of}`, 's', baseline.seconds);
  let slowest = { seconds: 0, view: '', plan: '' };
  for (const { view } of rows) {
    const { seconds, plan } = await explain(database, `mirror_reports.${view}`, ANALYST, REPETITIONS);
    figures.add(`${view}, of ${of}`, 's', seconds);
    figures.add(`${view} ÷ reading the table`, '×', seconds / baseline.seconds, { most: MOST_READINGS });
    if (seconds > slowest.seconds) slowest = { seconds, view, plan };
  }
  say(`the slowest view is ${slowest.view}:\n${slowest.plan}`);
  await database.pool.query(`drop owned by ${ANALYST}; drop role ${ANALYST}`);
  await database.drop();
}

/** Returns the median of the runs, and the last plan. Without a role, the owner reads. */
async function explain(
  { pool }: BenchDatabase,
  relation: string,
  role: string | null,
  repetitions: number,
): Promise<{ seconds: number; plan: string }> {
  const client = await pool.connect();
  try {
    if (role !== null) await client.query(`set role ${role}`);
    let plan = '';
    const seconds: number[] = [];
    for (let run = 0; run < repetitions; run += 1) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, timing off) select * from ${relation}`,
      );
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      const spent = [...plan.matchAll(/^(?:Planning|Execution) Time: ([\d.]+) ms/gm)];
      seconds.push(spent.reduce((sum, [, ms]) => sum + Number(ms), 0) / 1000);
    }
    return { plan, seconds: median(seconds) };
  } finally {
    await client.query('reset role');
    client.release();
  }
}
