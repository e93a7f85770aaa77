// The nearest comparable engine beside our full sync, in turns: @supabase/stripe-sync-engine mirrors Stripe's lists
// into Postgres as we mirror a program's. Both read pages of 100 from loopback into a database of their own on the
// same server. Of the peer only the backfill counts, of ours the whole command.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type BenchDeps, programOf, syncOnce } from './measure-round.ts';
import { serveCustomers } from './peer-customers.ts';
import type { PeerRun } from './run-peer.ts';
import { makeDirectory, startChild } from './start-child.ts';

export interface PeerSizes {
  readonly referrals: number;
  readonly customers: number;
  readonly repetitions: number;
}

const PEER = '@supabase/stripe-sync-engine@0.48.5';
/** It asks for any above 18. */
const SDK = 'stripe@23.1.0';
const RUN_PEER = fileURLToPath(new URL('./run-peer.ts', import.meta.url));
/** The peer's migrations name the owner that most servers have; ours is another, and ends with the bench. */
const MAKE_OWNER = `do $$ begin
  if not exists (select from pg_roles where rolname = 'postgres') then create role postgres; end if;
end $$`;
const LONGEST_INSTALLATION_MS = 120_000;

/** Where npm cannot have the peer, says so and measures nothing. */
export async function measurePeer(deps: BenchDeps, sizes: PeerSizes): Promise<void> {
  const { cleanup, figures, say } = deps;
  say(`${PEER}, a full sync beside it`);
  const directory = await install(cleanup);
  if (directory === null) {
    say(`npm could not install ${PEER}: nothing is measured beside it`);
    return;
  }
  const port = await serveCustomers(cleanup, sizes.customers);
  for (let repetition = 1; repetition <= sizes.repetitions; repetition += 1) {
    const peer = await measureTheirs(deps, { directory, port, customers: sizes.customers });
    const ours = await measureOurs(deps, sizes.referrals);
    figures.add(`${PEER}: rows per second`, 'rows/s', peer);
    figures.add('full sync beside it: rows per second', 'rows/s', ours);
    figures.add("full sync's rows per second ÷ the peer's", '×', ours / peer, { least: 12 });
  }
}

/** Returns the directory with the peer; null where npm does not come to its end with it. */
async function install(cleanup: AsyncDisposableStack): Promise<string | null> {
  const directory = makeDirectory(cleanup, 'affiliate-mirror-bench-peer-');
  await writeFile(join(directory, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts', PEER, SDK];
  const npm = startChild(cleanup, 'npm', args, {
    cwd: directory,
    stdio: 'ignore',
    timeout: LONGEST_INSTALLATION_MS,
  });
  const isInstalled = await once(npm, 'exit').then(
    ([code]) => code === 0,
    () => false,
  );
  return isInstalled ? directory : null;
}

async function measureTheirs(
  { cleanup, postgres }: BenchDeps,
  { directory, port, customers }: { directory: string; port: number; customers: number },
): Promise<number> {
  const database = await postgres.createDatabase();
  await database.pool.query(MAKE_OWNER);
  const child = startChild(cleanup, process.execPath, [RUN_PEER, directory, database.url, String(port)], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, said, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'exit'),
  ]);
  if (code !== 0) throw new Error(`the peer ended with code ${code}:\n${said}`);
  const { rows } = await database.pool.query<{ count: number }>('select count(*) from stripe.customers');
  const { synced, ms } = JSON.parse(printed) as PeerRun;
  await database.drop();
  const mirrored = rows[0]?.count;
  if (mirrored !== customers || synced !== customers)
    throw new Error(`the peer mirrored ${mirrored} of ${customers} customers`);
  return customers / (ms / 1000);
}

async function measureOurs(deps: BenchDeps, referrals: number): Promise<number> {
  const program = programOf(referrals);
  const { url } = await deps.server.serve(program);
  const database = await deps.postgres.createDatabase();
  const { wallMs } = await syncOnce(deps, database, url);
  await database.drop();
  return (referrals + program.affiliates) / (wallMs / 1000);
}
