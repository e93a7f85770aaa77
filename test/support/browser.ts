// A real browser for the pages: Debian's chromium without its window, which starts and opens pages in half the time of
// the whole one.

import { type Browser, chromium } from 'playwright-core';
import { afterFile } from './after-file.ts';

let shared: Promise<Browser> | null = null;

/** Returns the browser of this test file. */
export function openBrowser(): Promise<Browser> {
  if (shared !== null) return shared;
  const launched = chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  });
  shared = launched;
  afterFile(async () => {
    shared = null;
    await (await launched).close();
  });
  return launched;
}
