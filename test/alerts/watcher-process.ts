// A process that watches a mirror and sends alerts, for tests that kill or stop one.

import { makeChannels } from '../../src/alerts/channels.ts';
import type { AlertTimings } from '../../src/alerts/timings.ts';
import { watchAlerts } from '../../src/alerts/watch.ts';
import type { AlertSettings } from '../../src/config/alerts.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { readGrowth } from '../../src/reports/read-growth.ts';

export interface WatcherOptions {
  readonly url: string;
  readonly settings: AlertSettings;
  readonly timings: AlertTimings;
}

const { url, settings, timings } = JSON.parse(process.argv[2] ?? '') as WatcherOptions;
const log = makeLogger('info');
const pool = makePool({ log }, { url, schema: 'mirror', max: 3, applicationName: 'watcher' });
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
process.on('disconnect', () => process.exit());
const db = makeDatabase(pool);
await watchAlerts(
  {
    db,
    mirrorSchema: 'mirror',
    log,
    channels: makeChannels(settings),
    checkQueue: async () => {},
    readGrowth: async () =>
      (await readGrowth({ db, mirrorSchema: 'mirror', readSpace: async () => null })).growth,
    warn: (err) => log.warn({ err }, 'alerts.failed'),
  },
  { signal: stopping.signal, maxAgeSeconds: 26 * 3600, timings },
);
await pool.end();
process.disconnect?.();
