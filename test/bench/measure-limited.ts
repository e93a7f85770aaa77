// What the account's limit makes of it: one small sync measured under the limit, and the time of larger ones computed.

import { type BenchDeps, programOf } from './measure-round.ts';
import { runSync } from './run-sync.ts';

const PAGE = 100;
/** Each of the two lists ends with its head read once more. */
const HEADS = 2;
const SIZES = [10_000, 100_000, 1_000_000];

export async function measureLimited(
  deps: BenchDeps,
  { referrals, rateLimit }: { referrals: number; rateLimit: string },
): Promise<void> {
  const { postgres, server, figures, say } = deps;
  say(`full sync of ${referrals.toLocaleString('en')} referrals under ${rateLimit}`);
  const program = programOf(referrals);
  const { url } = await server.serve(program);
  const database = await postgres.createDatabase();
  const run = await runSync(deps, { programUrl: url, databaseUrl: database.url, rateLimit });
  await database.drop();
  const requests = run.runs.reduce((sum, { requests: count }) => sum + count, 0);
  const named = `${referrals.toLocaleString('en')} referrals under ${rateLimit}`;
  figures.add(`${named}: requests`, '', requests);
  figures.add(`${named}: measured`, 's', run.wallMs / 1000);
  figures.add(`${named}: computed`, 's', leastSeconds(requests, rateLimit));
  for (const size of SIZES) {
    const { affiliates } = programOf(size);
    const needed = Math.ceil(affiliates / PAGE) + Math.ceil(size / PAGE) + HEADS;
    const minutes = leastSeconds(needed, '45/30') / 60;
    figures.add(`${size.toLocaleString('en')} referrals under 45/30: computed`, 'min', minutes);
  }
}

/** Returns how long the limit makes so many requests take, from the first to the last, at the least. */
export function leastSeconds(requests: number, rateLimit: string): number {
  // The first window's go at once, and each later window's when the one before has passed.
  const [perWindow = 1, seconds = 1] = rateLimit.split('/').map(Number);
  return Math.floor((requests - 1) / perWindow) * seconds;
}
