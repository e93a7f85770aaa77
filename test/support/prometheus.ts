// A Prometheus of a test's own, with our rules made quick. It ends with the test file.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterFile } from './after-file.ts';
import { makeDirectory } from './directory.ts';
import { findFreePort } from './redis.ts';

export interface TestPrometheus {
  /** Returns the value of an expression that has one; null where it has none. */
  query(expr: string): Promise<number | null>;
  /** Returns the names of the alerts that fire. */
  firing(): Promise<string[]>;
}

export interface PrometheusOptions {
  /** Host and port of the worker. */
  readonly target: string;
  readonly password: string;
  readonly rules: string;
}

/** Returns a running Prometheus that scrapes the worker, and looks at its rules, every second. */
export async function startPrometheus({
  target,
  password,
  rules,
}: PrometheusOptions): Promise<TestPrometheus> {
  const directory = await makeDirectory();
  await writeFile(join(directory, 'alerts.yml'), rules);
  await writeFile(
    join(directory, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [
        {
          job_name: 'affiliate-mirror',
          basic_auth: { username: 'prometheus', password },
          static_configs: [{ targets: [target] }],
        },
      ],
    }),
  );
  const port = await findFreePort();
  const server = spawn(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  await once(server, 'spawn').catch((error: unknown) => {
    throw new Error('prometheus does not start: "node test/provision.ts --long" installs it', {
      cause: error,
    });
  });
  afterFile(() => end(server));
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (server.exitCode !== null) throw new Error('prometheus ended');
    await sleep(100);
  }
  const ask = async <T>(path: string): Promise<T> =>
    ((await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: T }).data;
  return {
    async query(expr) {
      const { result } = await ask<{ result: { value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(expr)}`,
      );
      const value = result[0]?.value[1];
      return value === undefined ? null : Number(value);
    },
    async firing() {
      const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
  };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}
