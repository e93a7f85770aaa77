// A worker at whose page nobody looks has loaded nothing of it.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openStatusPage } from '../support/status-page.ts';

const PROGRAM = fileURLToPath(new URL('../support/loaded-modules.ts', import.meta.url));

test('pages and what they are served with are loaded when somebody first looks, not by a health check', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM]);
  const { afterHealth, afterPage }: Record<'afterHealth' | 'afterPage', string[]> = JSON.parse(stdout);
  const heavy = /^(fastify|@fastify|helmet|d3-|@bull-board|prom-client)|^src\/web\/(site|pages|style)/;
  expect(afterHealth).toContain('src/web/health.ts');
  expect(afterHealth.filter((name) => heavy.test(name))).toEqual([]);
  expect(afterPage).toEqual(expect.arrayContaining(['src/web/site.ts', 'src/web/pages/overview.ts']));
  expect(afterPage.some((name) => name.startsWith('@fastify/helmet'))).toBe(true);
});

test('what cannot be loaded is said in one line, and loaded at the next request', async () => {
  let isBroken = true;
  const page = await openStatusPage(null, {
    async loadPages() {
      if (isBroken) throw new Error('a module of /home/somebody is missing');
      return [];
    },
  });
  const answer = await page.ask();
  expect(answer.status).toBe(500);
  expect(answer.body).toBe('the status page cannot be shown: the reason is in the log of the worker\n');
  isBroken = false;
  expect((await page.ask()).status).toBe(404);
});
