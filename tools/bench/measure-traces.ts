// `node tools/bench/measure-traces.ts`: what traces cost. At the start: in CPU time of a short sync's process, without
// and with traces one after the other. Per page: in CPU time of the thread that makes the steps of a long run, as
// src/sync makes them, and sends them to a collector in another process.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Attributes, beginSpan, inSpan, inTrace } from '../../src/base/span.ts';
import { startTracing } from '../../src/observe/tracing/start-tracing.ts';
import { startBenchPostgres } from './bench-database.ts';
import { buildBenchProgram } from './bench-program.ts';
import { median } from './figures.ts';
import { programOf } from './measure-round.ts';
import { runSync } from './run-sync.ts';
import { startChild } from './start-child.ts';
import { startPageServer } from './start-page-server.ts';

const ROUNDS = 7;
const PAGES = 5000;
/** As many as src/sync/batches.ts gathers. */
const BATCH_PAGES = 40;
/** Empties the time of the loop itself, and leaves room for spans to be sent. */
const PAUSE_EVERY = 500;

const COLLECTOR = `require('node:http')
  .createServer((request, response) => request.resume().on('end', () => response.end('{}')))
  .listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

await using cleanup = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanup.disposeAsync().finally(() => process.exit(1)));
}
const collector = startChild(cleanup, process.execPath, ['-e', COLLECTOR], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (collector.stdout === null) throw new Error('the collector has no output');
const [port] = await once(createInterface({ input: collector.stdout }), 'line');
const endpoint = `http://127.0.0.1:${port}`;

const withoutMs = await measurePages();
const tracing = startTracing(
  { onLost: ({ reason }) => process.stderr.write(`spans are lost: ${reason}\n`) },
  { url: `${endpoint}/v1/traces`, headers: {}, resource: { 'service.name': 'bench' } },
);
await measurePages();
const withMs = await measurePages();
await tracing.stop();
process.stdout.write(
  `per page: ${withoutMs.toFixed(4)} ms without traces, ${withMs.toFixed(3)} ms with them\n`,
);

const program = await buildBenchProgram(cleanup);
const postgres = await startBenchPostgres(cleanup);
const { url: programUrl } = await startPageServer(cleanup).serve(programOf(100));
const off: number[] = [];
const on: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  off.push(await measureStart({}));
  on.push(await measureStart({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }));
}
process.stdout.write(
  `a sync of 100 referrals: ${median(off)} ms without traces, ${median(on)} ms with them\n`,
);

async function measureStart(environment: Readonly<Record<string, string>>): Promise<number> {
  const database = await postgres.createDatabase();
  const target = { programUrl, databaseUrl: database.url, rateLimit: 'none', environment };
  const { cpuMs } = await runSync({ cleanup, program }, target);
  await database.drop();
  return cpuMs;
}

/** Returns the time per page, in milliseconds. */
async function measurePages(): Promise<number> {
  const before = process.threadCpuUsage();
  await inTrace('run', start({ resource: 'referrals', mode: 'full' }), async () => {
    let links: (string | null)[] = [];
    for (let page = 1; page <= PAGES; page += 1) {
      links.push(await readPage(page));
      if (page % BATCH_PAGES === 0) {
        await inSpan(
          'load',
          { ...start({ resource: 'referrals', pages: BATCH_PAGES }), links },
          async (span) => {
            span.set({ rows: 2000, inserted: 2000, updated: 0, rejected: 0 });
            beginSpan('commit')();
          },
        );
        links = [];
      }
      if (page % PAUSE_EVERY === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / PAGES;
}

function readPage(page: number): Promise<string | null> {
  return inSpan('page', start({ resource: 'referrals', page, limit: 100 }), async (span) => {
    const attributes = {
      'http.request.method': 'GET',
      'url.template': '/v1/referrals',
      attempt: 1,
      waited_ms: 0,
    };
    await inSpan('request', { attributes, isRequest: true }, async (request) => {
      request.set({ 'http.response.status_code': 200 });
    });
    span.set({ rows: 100 });
    return span.reference;
  });
}

function start(attributes: Attributes): { attributes: Attributes } {
  return { attributes };
}
