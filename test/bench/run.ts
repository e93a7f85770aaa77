// `npm run bench`: measures syncs through the real command, each beside its baselines in the same round, prints a
// table and writes bench-results.json. `--quick` is a smoke run on small lists, whose figures mean nothing.
// Ratios are what counts: machines differ, and so does one machine from hour to hour.

import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { type BenchPostgres, startBenchPostgres } from './bench-database.ts';
import { makeFigures, median, renderFigures } from './figures.ts';
import { measureCommissions } from './measure-commissions.ts';
import { measureGrowth } from './measure-growth.ts';
import { measureLimited } from './measure-limited.ts';
import { measureRound } from './measure-round.ts';
import { startPageServer } from './start-page-server.ts';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    output: { type: 'string', default: 'bench-results.json' },
  },
});

const SIZES = options.quick
  ? {
      referrals: 2_000,
      rounds: 1,
      others: [1_000, 4_000],
      limited: { referrals: 400, rateLimit: '4/1' },
      commissions: { updates: 50, limited: { updates: 20, requests: 10, seconds: 0.5 } },
    }
  : {
      referrals: 100_000,
      rounds: 5,
      others: [10_000, 1_000_000],
      limited: { referrals: 6_000, rateLimit: '45/30' },
      // As many requests under the limit as fill six windows.
      commissions: { updates: 5_000, limited: { updates: 135, requests: 45, seconds: 10 } },
    };

const say = (line: string) => process.stderr.write(`${line}\n`);
const figures = makeFigures();
const server = startPageServer();
let postgres: BenchPostgres | undefined;
try {
  postgres = await startBenchPostgres();
  for (let round = 1; round <= SIZES.rounds; round += 1) {
    say(`round ${round} of ${SIZES.rounds}: ${SIZES.referrals} referrals`);
    await measureRound({ postgres, server, figures }, SIZES.referrals);
  }
  await measureGrowth({ postgres, server, figures, say }, SIZES);
  await measureLimited({ postgres, server, figures, say }, SIZES.limited);
  await measureCommissions({ postgres, server, figures, say }, SIZES.commissions);
  const results = {
    measured_at: new Date().toISOString(),
    machine: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    node: process.versions.node,
    postgres: postgres.version,
    quick: options.quick,
    figures: figures.all().map((figure) => ({ ...figure, median: median(figure.values) })),
  };
  await writeFile(options.output, `${JSON.stringify(results, null, 2)}\n`);
  process.stdout.write(
    `${renderFigures(figures.all())}\n\n${results.machine}; Node ${results.node}; Postgres ${results.postgres}\n`,
  );
} finally {
  await server.stop();
  await postgres?.stop();
}
