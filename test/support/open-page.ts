// How a test's status page is served: on a free port of this machine, and open to whoever is on it.

import type { StatusPageOptions } from '../../src/web/status-page.ts';

export const OPEN_PAGE: StatusPageOptions = {
  host: '127.0.0.1',
  port: 0,
  basePath: '',
  password: null,
  piiPassword: null,
  metrics: 'guarded',
};
