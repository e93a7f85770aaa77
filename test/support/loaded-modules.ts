// A process that serves a status page, and prints what of our packages it has loaded: once it has answered a health
// check, and once it has shown a page.

import { registerHooks } from 'node:module';

const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    loaded.add(url.replace(/^.*\/node_modules\//, '').replace(/^.*\/(src\/)/, '$1'));
    return next(url, context);
  },
});

const { startStatusPage } = await import('../../src/web/server.ts');
const { OPEN_PAGE } = await import('./open-page.ts');
const { makeLogger } = await import('../../src/log.ts');
const page = await startStatusPage(
  {
    log: makeLogger('silent'),
    checks: {},
    pageDeps: () => null,
    loadPages: async () => {
      const { makePages } = await import('../../src/web/pages.ts');
      return makePages({ rateLimit: null, findNext: () => [] });
    },
    readMetrics: null,
    registerBoard: null,
  },
  OPEN_PAGE,
);
await (await fetch(`${page.url}/readyz`)).text();
const afterHealth = [...loaded];
await (await fetch(`${page.url}/`)).text();
process.stdout.write(JSON.stringify({ afterHealth, afterPage: [...loaded] }));
await page.close();
