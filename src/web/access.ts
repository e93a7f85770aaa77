// Access to the site: methods, names of this machine, passwords, and how often a wrong password may be tried. The
// caller shows the refusal.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../base/log.ts';
import type { StatusPasswords } from '../config/process/status-page.ts';

/** The status page, or the status page with personal data on it. */
type Right = 'page' | 'people';

/** Why a request is refused. */
export type Refusal =
  | { readonly kind: 'method' }
  | { readonly kind: 'host' }
  | { readonly kind: 'password'; readonly wants: Right }
  | { readonly kind: 'throttled'; readonly waitSeconds: number };

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the password that was given; null if none was given, or none is needed. */
    right: Right | null;
  }
  interface FastifyContextConfig {
    /**
     * `open`: no password is needed; `people`: the password for personal data. By default, as for the status page.
     */
    readonly access?: 'open' | 'people';
  }
}

/** Names that only this machine has for itself; a web page of another site can only come under other names. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/** Checks every request to the site, also for a view that does not exist. `refuse` answers a refused request. */
export function addAccessCheck(
  { site, log }: { site: FastifyInstance; log: Logger },
  passwords: StatusPasswords,
  refuse: (refusal: Refusal, reply: FastifyReply) => FastifyReply,
): void {
  const findRight = makeFindRight(passwords);
  const attempts = makeAttempts(() => performance.now());
  site.decorateRequest('right', null);
  site.addHook('onRequest', async (request, reply) => {
    const refusal = check(request);
    if (refusal !== null) return refuse(refusal, reply);
  });

  function check(request: FastifyRequest): Refusal | null {
    const { access } = request.routeOptions.config;
    if (request.method !== 'GET' && request.method !== 'HEAD') return { kind: 'method' };
    // With a password, a web page that pretends to be this host has none to send.
    if (passwords.password === null && !LOOPBACK_HOST.test(request.headers.host ?? ''))
      return { kind: 'host' };
    if (access === 'open') return null;
    const { authorization } = request.headers;
    const isGuarded = passwords.password !== null || access === 'people';
    if (!isGuarded && (authorization === undefined || passwords.piiPassword === null)) return null;
    const waitSeconds = attempts.waitOf(request.ip);
    if (waitSeconds !== null) return { kind: 'throttled', waitSeconds };
    const given = readPassword(authorization);
    request.right = given === null ? null : findRight(given);
    // The log does not say who: an address is personal data.
    if (given !== null && request.right === null && attempts.note(request.ip)) log.warn('status.throttled');
    const isEnough = access === 'people' ? request.right === 'people' : request.right !== null;
    return isEnough ? null : { kind: 'password', wants: access === 'people' ? 'people' : 'page' };
  }
}

/** Returns the password of a header of Basic authentication; null if it has none. Source: RFC 7617. */
function readPassword(header: string | undefined): string | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : null;
}

/** Returns the function that returns the right of a password, null for a wrong one; it always takes the same time. */
function makeFindRight({ password, piiPassword }: StatusPasswords): (given: string) => Right | null {
  // Digests are of one length, however long the passwords are.
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  // No text has the random digest of a password that is not set.
  const ofPage = password === null ? randomBytes(32) : digest(password);
  const ofPeople = piiPassword === null ? randomBytes(32) : digest(piiPassword);
  return (given) => {
    const found = digest(given);
    const isPage = timingSafeEqual(found, ofPage);
    const isPeople = timingSafeEqual(found, ofPeople);
    return isPeople ? 'people' : isPage ? 'page' : null;
  };
}

/** Plenty for a person, and a password of eight characters withstands ten guesses a minute. */
const MOST_WRONG = 10;
const WINDOW_MS = 60_000;
/** Beyond it, the client that was counted first is forgotten. */
const MOST_CLIENTS = 10_000;

/** Counts wrong passwords by client, from minute to minute. `readMs` is a monotonic clock. */
export function makeAttempts(readMs: () => number) {
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
    /** In whole seconds; null if the client need not wait. */
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

/** Returns the client of an address: a client with an IPv6 address has 2^64 of them. Source: RFC 4291, 2.5.1. */
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
