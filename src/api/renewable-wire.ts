// The secret of requests. It is read again when the API refuses it: a rotation needs no restart.

import { makeScrub } from './scrub.ts';
import type { Wire } from './send-request.ts';

export interface RenewableWire {
  current(): Wire;
  /** Returns whether there is another secret than the refused one. */
  renew(refused: Wire): boolean;
  renewals(): number;
}

/** `reread` returns the secret as it is now; null if there is none. */
export function makeRenewableWire(
  base: Omit<Wire, 'authorization' | 'scrub'>,
  secret: string,
  reread: (() => string | null) | undefined,
): RenewableWire {
  const withSecret = (given: string): Wire => ({
    ...base,
    authorization: basicAuth(given),
    scrub: makeScrub(given),
  });
  let wire = withSecret(secret);
  let renewals = 0;
  return {
    current: () => wire,
    renew(refused) {
      if (wire !== refused) return true;
      const other = reread?.() ?? null;
      if (other === null || basicAuth(other) === wire.authorization) return false;
      wire = withSecret(other);
      renewals += 1;
      return true;
    },
    renewals: () => renewals,
  };
}

/**
 * Returns the `Authorization` header's value: the secret as the user name, an empty password.
 *
 * Source: contract, Authentication, 2.
 */
export function basicAuth(secret: string): string {
  return `Basic ${Buffer.from(`${secret}:`).toString('base64')}`;
}
