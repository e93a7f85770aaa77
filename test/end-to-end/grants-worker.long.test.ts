// A role for workers that is weaker than the one that migrates: what it can do, what is refused, and who notices.

import { beforeAll, describe, expect, test } from 'vitest';
import { startCommandWorker } from '../support/command-worker.ts';
import { startRedis } from '../support/redis.ts';
import {
  environment,
  grant,
  queryAs,
  ROLES,
  refused,
  unpaidCommissions,
  useRoles,
} from '../support/roles.ts';
import { runCli } from '../support/run-cli.ts';

const AT = '2026-10-01T12:00:00Z';

useRoles();

beforeAll(async () => {
  expect(await runCli(['migrate'], environment('owner'))).toMatchObject({ code: 0 });
});

describe('A weaker role for workers', () => {
  test('grants worker is enough for sync, status, doctor and commissions', async () => {
    await grant('worker');
    for (const args of [['sync'], ['sync', '--mode', 'delta'], ['status'], ['doctor']]) {
      expect(await runCli(args, environment('worker')), args.join(' ')).toMatchObject({ code: 0 });
    }
    const [id = ''] = await unpaidCommissions(1);
    for (const args of [
      ['track', id],
      ['pay', id, '--at', AT, '--wait'],
      ['status', id],
    ]) {
      const run = await runCli(['commissions', ...args], environment('worker'));
      expect(run, args.join(' ')).toMatchObject({ code: 0 });
    }
  });

  test.each(['Postgres', 'Redis'])('and for work, with the queue in %s', async (kind) => {
    const redis = kind === 'Redis' ? await startRedis() : null;
    const more: Record<string, string> = redis === null ? {} : { REDIS_URL: redis.url };
    await grant('worker', more);
    const before = await queryAs('owner', `select max(id) as id from mirror.sync_runs`);
    const worker = await startCommandWorker({ ...environment('worker'), ...more });
    const [id = ''] = await unpaidCommissions(1);
    expect(await runCli(['commissions', 'pay', id, '--at', AT], environment('worker'))).toMatchObject({
      code: 0,
    });
    await expect
      .poll(() =>
        queryAs('owner', `select state from mirror.commission_updates where commission_id = '${id}'`),
      )
      .toEqual([{ state: 'applied' }]);
    await expect
      .poll(() =>
        queryAs(
          'owner',
          `select count(*) > 2 as many from mirror.sync_runs where state = 'succeeded' and id > ${before[0]?.['id']}`,
        ),
      )
      .toEqual([{ many: true }]);
    expect(await worker.readyz()).toEqual({ database: 'ok', rights: 'ok', migrations: 'ok', queue: 'ok' });
    expect(worker.lines.join('\n')).not.toContain('permission denied');
  });

  test('may not change tables, nor what is noted of migrations', async () => {
    await refused('worker', 'alter table mirror.affiliates add column x int');
    await refused('worker', 'drop table mirror.sync_runs');
    await refused('worker', 'create table mirror.own (a int)');
    await refused('worker', 'delete from mirror.schema_migrations');
    await refused('worker', 'delete from mirror_queue.migration');
  });

  test('has its rights on tables of later migrations', async () => {
    await queryAs(
      'owner',
      'create table mirror.later (a int generated always as identity); create table mirror_queue.later (a serial)',
    );
    await queryAs(
      'worker',
      'insert into mirror.later default values; insert into mirror_queue.later default values',
    );
    expect(await runCli(['doctor'], environment('worker'))).toMatchObject({ code: 0 });
    await queryAs('owner', 'drop table mirror.later; drop table mirror_queue.later');
  });

  test('A right to the reports that is taken away: doctor notices', async () => {
    await grant('worker');
    await queryAs('owner', `revoke select on mirror_reports.freshness from ${ROLES.worker}`);
    const { code, stdout } = await runCli(['doctor'], environment('worker'));
    expect(stdout).toMatch(
      /^✗ rights: the role worker_\w+ lacks select on mirror_reports\.freshness: have /m,
    );
    expect(code).toBe(1);
  });

  test('A right that is taken away: doctor and /readyz notice', async () => {
    await grant('worker');
    const worker = await startCommandWorker({ ...environment('worker'), SYNC_FULL_CRON: '' });
    await queryAs('owner', `revoke insert on mirror.sync_runs from ${ROLES.worker}`);
    expect(await worker.readyz()).toEqual({
      database: 'ok',
      rights: 'failed',
      migrations: 'ok',
      queue: 'ok',
    });
    expect(worker.lines.join('\n')).toContain('lacks insert on mirror.sync_runs');
    const { code, stdout } = await runCli(['doctor'], environment('worker'));
    expect(stdout).toMatch(/^✗ rights: the role worker_\w+ lacks insert on mirror\.sync_runs: have /m);
    expect(code).toBe(1);
    const sync = await runCli(['sync'], environment('worker'));
    expect(sync.stderr).toMatch(
      /^affiliate-mirror: .*affiliate-mirror grants worker.*permission denied for table sync_runs\n/m,
    );
    expect(sync.code).toBe(1);
    await grant('worker');
  });
});
