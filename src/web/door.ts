// The door of the site: which methods are answered, under which names of this machine, and to whom. What it refuses is
// shown by the caller.

import basicAuth from '@fastify/basic-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { StatusPasswords } from '../config/status-page.ts';
import type { Logger } from '../log.ts';
import { makeFindRight, type Right } from './passwords.ts';
import { LIMITS, makeThrottle } from './throttle.ts';

/** Why somebody is not let in. */
export type Refusal =
  | { readonly kind: 'method' }
  | { readonly kind: 'host' }
  | { readonly kind: 'password'; readonly wants: Right }
  | { readonly kind: 'throttled'; readonly waitSeconds: number };

declare module 'fastify' {
  interface FastifyRequest {
    /** What the password that was given opens; null where none was, or none is needed. */
    right: Right | null;
  }
  interface FastifyContextConfig {
    /** Who may ask for the route: everybody, or whoever may see personal data; otherwise whoever may see the page. */
    readonly door?: 'open' | 'people';
  }
}

/** The names that this machine has for itself alone; a page of another site can only come under other names. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Puts the door before every route of the site, also before what is not found. `refuse` answers whoever is not let in.
 */
export async function addDoor(
  { site, log }: { site: FastifyInstance; log: Logger },
  passwords: StatusPasswords,
  refuse: (refusal: Refusal, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): Promise<void> {
  const findRight = makeFindRight(passwords);
  const throttle = makeThrottle(LIMITS, () => performance.now());
  site.decorateRequest('right', null);
  await site.register(basicAuth, {
    authenticate: { realm: 'affiliate-mirror' },
    async validate(_user, given, request) {
      request.right = findRight(given);
      if (request.right !== null) return;
      // The log does not say who: an address is personal data.
      if (throttle.note(request.ip)) log.warn('status.throttled');
      throw new WrongPassword();
    },
  });
  const authenticate = (request: FastifyRequest, reply: FastifyReply) =>
    new Promise<boolean>((resolve) => {
      site.basicAuth(request, reply, (error?: Error) => resolve(error === undefined));
    });

  site.addHook('onRequest', async (request, reply) => {
    const { door } = request.routeOptions.config;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse({ kind: 'method' }, request, reply);
    }
    // With a password, a page that pretends to be this host has none to send.
    if (passwords.password === null && !LOOPBACK_HOST.test(request.headers.host ?? '')) {
      return refuse({ kind: 'host' }, request, reply);
    }
    if (door === 'open') return;
    const isGiven = request.headers.authorization !== undefined;
    const isGuarded = passwords.password !== null || door === 'people';
    if (!isGuarded && (!isGiven || passwords.piiPassword === null)) return;
    const waitSeconds = throttle.waitOf(request.ip);
    if (waitSeconds !== null) return refuse({ kind: 'throttled', waitSeconds }, request, reply);
    const isRight = await authenticate(request, reply);
    if (isRight && (door !== 'people' || request.right === 'people')) return;
    return refuse({ kind: 'password', wants: door === 'people' ? 'people' : 'page' }, request, reply);
  });
}

/** Of no catalogue: nobody sees it but the door. */
class WrongPassword extends Error {}
