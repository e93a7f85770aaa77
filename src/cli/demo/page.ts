// The status page of the demo, which is up before there is a database.

import type { Config } from '../../config/config.ts';
import { readNow } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { Busy } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { PageDeps } from '../../web/page.ts';
import { readDiskSpace } from '../disk-space.ts';
import type { Lifetime } from '../lifetime.ts';
import { servePassivePage } from '../worker/status-page.ts';

export interface DemoSession {
  readonly config: Config;
  readonly log: Logger;
  readonly lifetime: Lifetime;
}

/** Returns the status page; until it is shown a database with its tables, it says that it waits for them. */
export async function serveDemoPage({
  config,
  log,
  lifetime,
}: DemoSession): Promise<{ url: string; show: (db: Database) => void }> {
  const { mirrorSchema, amountUnit, staleAfterSeconds: maxAgeSeconds } = config;
  let pageDeps: PageDeps | null = null;
  const checks = {
    database: async () => {
      if (pageDeps === null) throw new Busy('the demo is still starting');
      await readNow(pageDeps.db);
    },
  };
  const url = await servePassivePage(
    { log, lifetime, checks, pageDeps: () => pageDeps, readMetrics: null, registerBoard: null },
    // The program that it makes up has no limit, whatever another one has.
    { ...config, api: { ...config.api, rateLimit: null } },
  );
  const show = (db: Database) => {
    pageDeps = { db, mirrorSchema, amountUnit, maxAgeSeconds, readSpace: () => readDiskSpace(config) };
  };
  return { url, show };
}
