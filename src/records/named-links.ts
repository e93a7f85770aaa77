// Reads the links that an affiliate names: all that it has, where it was listed with them.

import type { Timestamp } from '../contract/timestamp.ts';

export interface NamedLinks {
  readonly affiliateId: string;
  readonly linkIds: readonly string[];
  readonly observedAt: Timestamp;
}

/** Returns the links that a record which fits the contract names; null where it has no list of them. */
export function readNamedLinks(record: unknown, observedAt: Timestamp): NamedLinks | null {
  const { id, links } = record as { id: string; links?: readonly { id: string }[] };
  return links === undefined ? null : { affiliateId: id, linkIds: links.map((link) => link.id), observedAt };
}
