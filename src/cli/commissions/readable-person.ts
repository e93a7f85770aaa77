// Affiliates as people read them: where the mirror keeps hashes or nothing of them, by their identifiers.

import { isHashed } from '../../personal-data/values.ts';

export interface NamedAffiliate {
  readonly affiliate_id: string | null;
  readonly affiliate_name: string | null;
  readonly affiliate_email: string | null;
}

/** Returns the same with the identifier for a name that is not there, and without hashes. */
export function readable<T extends NamedAffiliate>(line: T): T {
  const { affiliate_id, affiliate_name, affiliate_email } = line;
  const isName = affiliate_name !== null && !affiliate_name.split(' ').some(isHashed);
  return {
    ...line,
    affiliate_name: isName ? affiliate_name : affiliate_id,
    affiliate_email: withoutHash(affiliate_email),
  };
}

/** Returns the text; null where it is a hash. */
export function withoutHash(text: string | null): string | null {
  return text !== null && isHashed(text) ? null : text;
}
