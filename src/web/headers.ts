// The headers of every answer: the site loads nothing from other hosts, cannot be framed, and sends no referrer.

import type { FastifyHelmetOptions } from '@fastify/helmet';
import { STYLE_HASH } from './assets.ts';

const COMMON = {
  // The status page is served over plain HTTP; a proxy that puts TLS in front of it decides for how long.
  strictTransportSecurity: false,
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
  xXssProtection: false,
} as const satisfies FastifyHelmetOptions;

export const SITE_HEADERS: FastifyHelmetOptions = {
  ...COMMON,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': [`'${STYLE_HASH}'`],
      'connect-src': ["'self'"],
      'img-src': ['data:'],
      'form-action': ["'self'"],
      'frame-ancestors': ["'none'"],
      'base-uri': ["'none'"],
    },
  },
};

/** The board of the queue brings a script, styles and fonts of its own, and sets styles while it runs. */
export const BOARD_HEADERS: FastifyHelmetOptions = {
  ...COMMON,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'", "'unsafe-inline'"],
      'font-src': ["'self'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'manifest-src': ["'self'"],
      'form-action': ["'self'"],
      'frame-ancestors': ["'none'"],
      'base-uri': ["'self'"],
    },
  },
};
