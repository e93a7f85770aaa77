// Prometheus itself reads what we have for it: names, rules and expressions; and it scrapes a real worker, until an
// alert fires, and is over.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { migrateQueue } from '../../src/worker/queue/queue-tables.ts';
import { askForProbe } from '../../src/worker/queue/worker-state.ts';
import { buildDashboard } from '../../tools/dashboard/dashboard.ts';
import { basic, runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { ROOT } from '../support/read-docs.ts';

const DIRECTORY = join(ROOT, 'docs/deploy/prometheus');
const PASSWORD = 'a-password-of-this-test';

/** Returns what promtool says. */
function promtool(args: readonly string[], input = ''): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8', cwd: DIRECTORY });
  return { status, said: `${stdout}${stderr}` };
}

test('promtool finds nothing wrong with the rules, and each fires and is over as their tests say', () => {
  expect(promtool(['check', 'rules', 'alerts.yml'])).toMatchObject({ status: 0 });
  expect(promtool(['test', 'rules', 'alerts.test.yml', 'alerts-of-weeks.test.yml'])).toMatchObject({
    status: 0,
  });
  expect(promtool(['check', 'config', '--syntax-only', 'prometheus.yml'])).toMatchObject({ status: 0 });
});

test('promtool accepts every expression of the dashboard', async () => {
  const expressions = (buildDashboard().panels ?? []).flatMap((panel) =>
    ('targets' in panel ? (panel.targets ?? []) : []).map(
      (target) => (target as { expr?: string }).expr ?? '',
    ),
  );
  expect(expressions.length).toBeGreaterThan(30);
  const rules = expressions.map((expr, index) => ({
    record: `dashboard:${index}`,
    expr: expr
      .replaceAll('$__rate_interval', '5m')
      .replaceAll('$job', 'affiliate-mirror')
      .replaceAll('$program', '.*'),
  }));
  const directory = await makeDirectory();
  const file = join(directory, 'rules.yml');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(promtool(['check', 'rules', file])).toMatchObject({
    status: 0,
    said: expect.stringContaining(`${rules.length} rules found`),
  });
});

test('Prometheus scrapes a worker, and an alert fires while the program refuses the secret', async () => {
  const program = await createTestDatabase();
  const size = { affiliates: 5, referrals: 20 };
  let sandbox: TestSandbox = await runSandbox(program.pool, size);
  const port = Number(new URL(sandbox.url).port);
  const database = await createTestDatabase();
  await migrateQueue(database.pool, { redisUrl: null, databaseUrl: database.url, mirrorSchema: 'mirror' });
  const worker = await startCommandWorker({
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: database.url,
    STATUS_PASSWORD: PASSWORD,
  });

  const headers = { authorization: basic(`prometheus:${PASSWORD}`) };
  const text = await (await fetch(`${worker.url}/metrics`, { headers })).text();
  expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' });

  const rules = readFileSync(join(DIRECTORY, 'alerts.yml'), 'utf8').replaceAll(/for: \d+[mh]/g, 'for: 1s');
  const { host } = new URL(worker.url);
  const prometheus = await startPrometheus({ target: host, password: PASSWORD, rules });
  await expect.poll(() => prometheus.query('up{job="affiliate-mirror"}')).toBe(1);
  const synced = 'affiliate_mirror_rows_total{resource="referrals",outcome="inserted"}';
  await expect.poll(() => prometheus.query(synced)).toBe(20);
  await expect.poll(() => prometheus.firing()).toEqual([]);

  // The account got another secret.
  await sandbox.close();
  sandbox = await runSandbox(program.pool, { ...size, port, secret: 'another-secret' });
  await expect.poll(() => prometheus.firing()).toContain('AffiliateMirrorSecretRefused');
  expect(await prometheus.query('affiliate_mirror_secret_refused')).toBe(1);

  // And its old one again.
  await sandbox.close();
  sandbox = await runSandbox(program.pool, { ...size, port });
  await askForProbe(database.db);
  await expect.poll(() => prometheus.firing()).not.toContain('AffiliateMirrorSecretRefused');
  expect(await prometheus.query('affiliate_mirror_secret_refused')).toBe(0);

  await worker.stop();
  await expect.poll(() => prometheus.firing()).toContain('AffiliateMirrorWorkerDown');
});
