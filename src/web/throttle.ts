// Who gave too many wrong passwords: none of theirs is checked for a while. Keeps a bounded number of addresses.

export interface Throttle {
  /** Returns how long the client has to wait, in whole seconds; null where it need not. */
  waitOf(address: string): number | null;
  /** Counts a wrong password. Returns whether it is the one that makes the client wait. */
  note(address: string): boolean;
}

export interface ThrottleLimits {
  /** As many wrong passwords within the window, and the client waits for the window's end. */
  readonly most: number;
  readonly windowMs: number;
  /** Of addresses that are kept: beyond it, the one that began first is forgotten. */
  readonly mostAddresses: number;
}

/** Ten a minute are plenty for a person, and a password of eight characters outlives them. */
export const LIMITS: ThrottleLimits = { most: 10, windowMs: 60_000, mostAddresses: 10_000 };

/** Returns a throttle that has seen nothing. `readMs` is a clock that never goes back. */
export function makeThrottle(
  { most, windowMs, mostAddresses }: ThrottleLimits,
  readMs: () => number,
): Throttle {
  const clients = new Map<string, { readonly sinceMs: number; wrong: number }>();
  const find = (client: string) => {
    const found = clients.get(client);
    if (found === undefined || readMs() - found.sinceMs < windowMs) return found;
    clients.delete(client);
    return undefined;
  };
  return {
    waitOf(address) {
      const found = find(clientOf(address));
      if (found === undefined || found.wrong < most) return null;
      return Math.ceil((found.sinceMs + windowMs - readMs()) / 1000);
    },
    note(address) {
      const client = clientOf(address);
      const found = find(client) ?? { sinceMs: readMs(), wrong: 0 };
      found.wrong += 1;
      clients.set(client, found);
      const [oldest] = clients.keys();
      if (clients.size > mostAddresses && oldest !== undefined) clients.delete(oldest);
      return found.wrong === most;
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
  const [left = '', right] = address.split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
