// The door of the site: which methods are answered, under which names of this machine, and to whom. What it refuses is
// shown by the caller.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import basicAuth from '@fastify/basic-auth';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { StatusPasswords } from '../config/status-page.ts';
import type { Logger } from '../log.ts';

/** What a right password opens: the page, or the page with personal data on it. */
type Right = 'page' | 'people';

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
  const throttle = makeThrottle(() => performance.now());
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

/** Returns the function that returns what a password opens, null for a wrong one: in the same time whatever it is. */
function makeFindRight({ password, piiPassword }: StatusPasswords): (given: string) => Right | null {
  // Digests are of one length, whatever the passwords are.
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  // What is not set is no text that anybody could send.
  const ofPage = password === null ? randomBytes(32) : digest(password);
  const ofPeople = piiPassword === null ? randomBytes(32) : digest(piiPassword);
  return (given) => {
    const found = digest(given);
    const isPage = timingSafeEqual(found, ofPage);
    const isPeople = timingSafeEqual(found, ofPeople);
    return isPeople ? 'people' : isPage ? 'page' : null;
  };
}

/** Ten a minute are plenty for a person, and a password of eight characters outlives them. */
const MOST_WRONG = 10;
const WINDOW_MS = 60_000;
/** Beyond it, the client that was counted first is forgotten. */
const MOST_CLIENTS = 10_000;

/** Returns what counts wrong passwords by client, from minute to minute. `readMs` is a clock that never goes back. */
export function makeThrottle(readMs: () => number) {
  const wrong = new Map<string, number>();
  let sinceMs = readMs();
  const countOf = (client: string): number => {
    if (readMs() - sinceMs >= WINDOW_MS) {
      wrong.clear();
      sinceMs = readMs();
    }
    return wrong.get(client) ?? 0;
  };
  return {
    /** Returns how long the client has to wait, in whole seconds; null where it need not. */
    waitOf(address: string): number | null {
      if (countOf(clientOf(address)) < MOST_WRONG) return null;
      return Math.ceil((sinceMs + WINDOW_MS - readMs()) / 1000);
    },
    /** Counts a wrong password. Returns whether it is the one that makes the client wait. */
    note(address: string): boolean {
      const client = clientOf(address);
      const count = countOf(client) + 1;
      wrong.set(client, count);
      const [oldest] = wrong.keys();
      if (wrong.size > MOST_CLIENTS && oldest !== undefined) wrong.delete(oldest);
      return count === MOST_WRONG;
    },
  };
}

/**
 * Returns which client an address belongs to: whoever has one IPv6 address has 2^64 of them. Source: RFC 4291, 2.5.1.
 */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(':')) return address;
  const [left = '', right = ''] = address.split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === '' ? [] : right.split(':');
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
