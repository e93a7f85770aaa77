// Traces as an operator gets them: real commands, and a collector that they are sent to.

import { describe, expect, test } from 'vitest';
import { runSandbox, SECRET } from '../../sandbox/running-sandbox.ts';
import { type CollectedSpan, type Collector, startCollector } from '../../support/collector.ts';
import { startCommandWorker } from '../../support/command-worker.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startRedis } from '../../support/redis.ts';
import { runCli, runCliAlone } from '../../support/run-cli.ts';

const NO_SUCH = '00000000-0000-4000-8000-000000000000';

const program = await createTestDatabase();
const sandbox = await runSandbox(program.pool, { affiliates: 30, referrals: 250 });

async function makeEnvironment(
  collector: Collector,
  database?: TestDatabase,
): Promise<Record<string, string>> {
  const { url } = database ?? (await createTestDatabase());
  const environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: url,
  };
  return { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
}

/** Returns the names from the first span of its trace down to the span. */
function pathOf(span: CollectedSpan, spans: readonly CollectedSpan[]): string {
  if (span.parentId === null) return span.name;
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return `${parent === undefined ? 'LOST' : pathOf(parent, spans)} > ${span.name}`;
}

function pathsOf(spans: readonly CollectedSpan[]): string[] {
  return [...new Set(spans.map((span) => pathOf(span, spans)))].toSorted();
}

describe('sync', () => {
  test('is one trace, from the command over run, page and request to the commit', async () => {
    const collector = await startCollector();
    const environment = {
      ...(await makeEnvironment(collector)),
      OTEL_SERVICE_NAME: 'mirror of acme',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=te%20st,service.name=other',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20secret',
      LOG_LEVEL: 'debug',
    };
    const { code, stderr } = await runCliAlone(['sync'], environment);
    expect(code, stderr).toBe(0);
    const { spans } = collector;
    expect(pathsOf(spans)).toEqual([
      'sync',
      'sync > request',
      'sync > run',
      'sync > run > commit',
      'sync > run > load',
      'sync > run > load > commit',
      'sync > run > page',
      'sync > run > page > request',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const runs = spans.filter(({ name }) => name === 'run');
    expect(runs.map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ resource: 'affiliates', mode: 'full', state: 'succeeded', inserted: 30 }),
      expect.objectContaining({ resource: 'referrals', mode: 'full', state: 'succeeded', inserted: 250 }),
    ]);
    // Every page is loaded once, by the load that links to it; only the head of the list may be read for nothing new.
    const pages = spans.filter(({ name }) => name === 'page').map(({ spanId }) => spanId);
    const linked = spans.filter(({ name }) => name === 'load').flatMap(({ linkedIds }) => linkedIds);
    expect(linked.toSorted()).toEqual(pages.toSorted());
    expect(spans.find(({ name }) => name === 'request')?.attributes).toMatchObject({
      'http.request.method': 'GET',
      attempt: 1,
    });
    expect(spans[0]?.resource).toMatchObject({
      'service.name': 'mirror of acme',
      'deployment.environment.name': 'te st',
    });
    expect(collector.received[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-token': 'a secret' },
    });
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    const started = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'sync.started');
    expect(started.map(({ trace_id, span_id }) => [trace_id, span_id])).toEqual(
      runs.map(({ traceId, spanId }) => [traceId, spanId]),
    );
    expect(lines.filter((line) => line.includes('a secret') || line.includes('a%20secret'))).toEqual([]);
  });
});

describe('payments', () => {
  test('are one apply, its updates and their requests, without a commission, a person or an amount', async () => {
    const collector = await startCollector();
    const environment = await makeEnvironment(collector);
    const { rows } = await program.pool.query<{ id: string }>(
      'select id from sandbox.commissions where paid_at is null and voided_at is null order by id limit 2',
    );
    const ids = rows.map(({ id }) => id);
    const command = ['commissions', 'pay', ...ids, NO_SUCH, '--at', '2026-10-01T12:00:00Z', '--wait'];
    expect(await runCliAlone(command, environment)).toMatchObject({ code: 3 });
    const { spans, bodies } = collector;
    expect(pathsOf(spans)).toEqual(
      expect.arrayContaining(['apply', 'apply > update', 'apply > update > request']),
    );
    const attributesOf = (name: string) =>
      spans.filter((span) => span.name === name).map(({ attributes }) => attributes);
    expect(attributesOf('apply')).toEqual([{ applied: 2, not_found: 1, deferred: 0 }]);
    expect(
      attributesOf('update').toSorted((a, b) => Number(a['update_id']) - Number(b['update_id'])),
    ).toEqual([
      { update_id: 1, action: 'pay', state: 'applied' },
      { update_id: 2, action: 'pay', state: 'applied' },
      { update_id: 3, action: 'pay', state: 'not_found' },
    ]);
    // A 404 is believed once something was answered that was asked for later: the shortest list where nothing else was.
    expect(['/v1/affiliates', '/v1/commissions/{id}']).toEqual(
      expect.arrayContaining(attributesOf('request').map((attributes) => attributes['url.template'])),
    );
    const refused = spans.filter(({ isFailed }) => isFailed).map(({ attributes }) => attributes);
    expect(refused).not.toEqual([]);
    for (const attributes of refused) {
      expect(attributes).toMatchObject({ 'http.response.status_code': 404, 'error.type': '404' });
    }
    for (const id of [...ids, NO_SUCH]) expect(bodies.join('')).not.toContain(id);
  });
});

test('what fails is marked with a code, and no name, address, secret or message is sent', async () => {
  const collector = await startCollector();
  const database = await createTestDatabase();
  const environment = await makeEnvironment(collector, database);
  // It quotes the whole row, and fails the run: by its code it is no fault of the row.
  await database.pool.query(`
    create function mirror.odd() returns trigger language plpgsql as $$
      begin raise exception 'an odd row: %', new using errcode = 'XX000'; end $$;
    create trigger odd before insert on mirror.referrals for each row execute function mirror.odd()`);
  const { code, stderr } = await runCliAlone(['sync'], environment);
  expect(code).toBe(1);
  expect(stderr).toContain('odd');
  const failed = collector.spans.filter(({ isFailed }) => isFailed);
  expect(failed.map((span) => pathOf(span, collector.spans))).toEqual(
    expect.arrayContaining(['sync', 'sync > run', 'sync > run > load']),
  );
  expect(failed.map(({ attributes }) => attributes['error.type'])).toContain('XX000');
  const { rows } = await program.pool.query<{ text: string | null }>(
    `select unnest(array[customer_name, customer_email, processor_customer_id]) as text from sandbox.referrals
     union select unnest(array[first_name, last_name, email, payout_email]) from sandbox.affiliates`,
  );
  const sent = collector.bodies.join('\n');
  const planted = [...rows.flatMap(({ text }) => text ?? []), SECRET, 'an odd row'];
  expect(planted.length).toBeGreaterThan(300);
  expect(planted.filter((text) => text.length > 3 && sent.includes(text))).toEqual([]);
});

describe.each(['postgres', 'redis'] as const)('work, with its queue in %s', (kind) => {
  test('makes one trace of a tick, its jobs, and what they do', async () => {
    const collector = await startCollector();
    const redis = kind === 'redis' ? { REDIS_URL: (await startRedis()).url } : {};
    const environment = { ...(await makeEnvironment(collector)), ...redis, OPTIONAL_LISTS: 'none' };
    expect(await runCli(['migrate'], environment)).toMatchObject({ code: 0 });
    const worker = await startCommandWorker({ ...environment, SYNC_FULL_CRON: '*/10 * * * * *' });
    const tracesWith = (name: string) =>
      [...Map.groupBy(collector.spans, ({ traceId }) => traceId).values()].filter((spans) =>
        spans.some((span) => span.name === name),
      );
    // The second job of a tick is made once the first has ended, and belongs to it all the same. Steps arrive before
    // the one that they are inside of.
    const findWhole = () =>
      tracesWith('tick').find(
        (spans) =>
          new Set(runsOf(spans).map(({ attributes }) => attributes['resource'])).size === 2 &&
          !pathsOf(spans).some((path) => path.includes('LOST')),
      ) ?? [];
    await expect
      .poll(() => pathsOf(findWhole()))
      .toEqual([
        'tick',
        'tick > job',
        'tick > job > run',
        'tick > job > run > commit',
        'tick > job > run > load',
        'tick > job > run > load > commit',
        'tick > job > run > page',
        'tick > job > run > page > request',
      ]);
    const whole = findWhole();
    expect(whole.find(({ name }) => name === 'tick')?.attributes).toEqual({ schedule: 'sync-full' });
    const ids = (lines: readonly string[]) =>
      lines
        .map((line) => JSON.parse(line))
        .filter(({ msg, trace_id }) => msg === 'sync.finished' && trace_id === whole[0]?.traceId)
        .map(({ span_id }) => span_id);
    expect(ids(worker.lines)).toEqual(expect.arrayContaining(runsOf(whole).map(({ spanId }) => spanId)));

    // Asked for by a command that is not traced: the worker's job begins the trace.
    const untraced = { ...environment, OTEL_TRACES_EXPORTER: 'none' };
    expect(await runCli(['commissions', 'pay', NO_SUCH], untraced)).toMatchObject({ code: 0 });
    await expect
      .poll(() => tracesWith('update').map(pathsOf))
      .toContainEqual(['job', 'job > apply', 'job > apply > update', 'job > apply > update > request']);
    expect(await worker.stop()).toBe(0);
  });
});

function runsOf(spans: readonly CollectedSpan[]): readonly CollectedSpan[] {
  return spans.filter(({ name }) => name === 'run');
}
