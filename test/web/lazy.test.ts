// A worker at whose page nobody looks has loaded nothing of it.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

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
