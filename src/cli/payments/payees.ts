// Payees for people, of a mirror that may keep hashes in place of names and addresses.

import { isHashed, readableName } from '../../mirror/people/values.ts';

interface Payee {
  readonly affiliate_id: string | null;
  readonly affiliate_name?: string | null;
}

/** Returns it without hashes: with the affiliate's identifier for the name, and without addresses. */
export function withoutHashes<Of extends Payee>(payee: Of): Of {
  const { affiliate_id, affiliate_name = null } = payee;
  const readable = Object.entries(payee).map(([field, value]) => [
    field,
    typeof value === 'string' && isHashed(value) ? null : value,
  ]);
  return {
    ...payee,
    ...Object.fromEntries(readable),
    affiliate_name: readableName(affiliate_name) ?? affiliate_id,
  };
}
