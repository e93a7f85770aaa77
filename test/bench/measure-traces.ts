// `node test/bench/measure-traces.ts`: what traces cost a sync, in CPU time of its process: at its start, and per page of
// 100 referrals. Each pair of syncs, without and with traces, runs one after the other on a database of its own.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startBenchPostgres } from './bench-database.ts';
import { median } from './figures.ts';
import { programOf } from './measure-round.ts';
import { runSync } from './run-sync.ts';
import { startPageServer } from './start-page-server.ts';

const ROUNDS = 5;
const FEW = 100;
const MANY = 20_000;

await using cleanup = new AsyncDisposableStack();
const collector = createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'));
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
cleanup.defer(() => collector.close().closeAllConnections());
const { port } = collector.address() as AddressInfo;
const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
const postgres = await startBenchPostgres(cleanup);
const server = startPageServer(cleanup);

const atStart: number[] = [];
const perPage: number[] = [];
const cpuOff: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const few = await measureCost(FEW);
  const many = await measureCost(MANY);
  atStart.push(few.costMs);
  perPage.push((many.costMs - few.costMs) / ((MANY - FEW) / 100));
  cpuOff.push(many.offMs);
  process.stderr.write(`round ${round + 1}: start ${few.costMs} ms, ${MANY} referrals ${many.costMs} ms\n`);
}
process.stdout.write(`CPU time of a sync of ${MANY} referrals without traces: ${median(cpuOff)} ms
traces, at the start: ${Math.round(median(atStart))} ms
traces, per page: ${median(perPage).toFixed(2)} ms\n`);

async function measureCost(referrals: number): Promise<{ offMs: number; costMs: number }> {
  const { url: programUrl } = await server.serve(programOf(referrals));
  const measure = async (environment: Readonly<Record<string, string>>) => {
    const database = await postgres.createDatabase();
    const { cpuMs } = await runSync(
      { cleanup },
      { programUrl, databaseUrl: database.url, rateLimit: 'none', environment },
    );
    await database.drop();
    return cpuMs;
  };
  const offMs = await measure({});
  return { offMs, costMs: (await measure(traced)) - offMs };
}
