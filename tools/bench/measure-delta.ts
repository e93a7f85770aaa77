// What a delta costs by how much of the program has changed since, beside the full sync of the same program. Of the
// changed referrals, nineteen in twenty are new, and one in twenty is an old one that converted, each of another
// affiliate.

import { median } from './figures.ts';
import { type BenchDeps, programOf, syncOnce, type WholeSync } from './measure-round.ts';
import { requestsOf } from './run-sync.ts';

export interface DeltaSizes {
  readonly referrals: number;
  readonly rounds: number;
}

/** Medians of the rounds. */
export interface SyncCost {
  /** What is synced: a share of changed referrals, or everything. */
  readonly name: string;
  readonly requests: number;
  /** The command with its start. */
  readonly processSeconds: number;
  /** Null where it cannot be read. */
  readonly serverSeconds: number | null;
}

/** In percent. */
const SHARES = [0, 0.1, 1, 10];
const CONVERTED = 1 / 20;

/** Returns the cost of each delta, and last that of the full sync. */
export async function measureDelta(
  deps: BenchDeps,
  { referrals, rounds }: DeltaSizes,
): Promise<readonly SyncCost[]> {
  const { postgres, server, say } = deps;
  const program = programOf(referrals);
  const deltas = SHARES.map((share) => ({ share, runs: [] as WholeSync[] }));
  const full: WholeSync[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    say(`deltas of ${referrals.toLocaleString('en')} referrals, ${round} of ${rounds}`);
    const database = await postgres.createDatabase();
    const { url } = await server.serve(program);
    full.push(await syncOnce(deps, database, url));
    await database.pool.query('vacuum (analyze)');
    let { added, converted } = program;
    for (const { share, runs } of deltas) {
      // Beside what had changed before the last delta.
      const changed = (referrals * share) / 100;
      const convertedNow = Math.ceil(changed * CONVERTED);
      converted += convertedNow;
      added += Math.round(changed) - convertedNow;
      await server.serve({ ...program, added, converted });
      runs.push(await syncOnce(deps, database, url, '--mode', 'delta'));
    }
    await database.drop();
  }
  return [
    ...deltas.map(({ share, runs }) => addCost(deps, `${share} %`, `delta with ${share} % changed`, runs)),
    addCost(deps, 'full sync', 'full sync beside the deltas', full),
  ];
}

function addCost({ figures }: BenchDeps, name: string, figure: string, runs: readonly WholeSync[]): SyncCost {
  const add = (what: string, unit: string, values: readonly number[]) => {
    for (const value of values) figures.add(`${figure}: ${what}`, unit, value);
    return median(values);
  };
  const serverMs = runs.flatMap(({ serverCpuMs }) => serverCpuMs ?? []);
  return {
    name,
    requests: add('requests', '', runs.map(requestsOf)),
    processSeconds: add(
      'CPU time of the process',
      's',
      runs.map(({ cpuMs }) => cpuMs / 1000),
    ),
    serverSeconds:
      serverMs.length === 0
        ? null
        : add(
            'CPU time of Postgres',
            's',
            serverMs.map((ms) => ms / 1000),
          ),
  };
}
