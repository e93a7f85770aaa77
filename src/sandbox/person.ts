// Invents people: an affiliate, a customer.

import type { Randomness } from './randomness.ts';

// Names that a mirror must keep exactly as they are, beside the plain ones.
const UNUSUAL_NAMES = ['Zoë', 'José', 'Łukasz', 'Nguyễn', '美咲', "D'Arcy", 'Ana "Nita"', 'Back\\slash'];

/** Returns a name with an address that is nobody's. */
export function inventPerson(randomness: Randomness): { first: string; last: string; email: string } {
  const isUnusual = randomness.chance(0.02);
  const first = isUnusual ? randomness.pick(UNUSUAL_NAMES) : randomness.faker.person.firstName();
  const last = randomness.faker.person.lastName();
  // Addresses of reserved domains: nobody's mail.
  const domain = randomness.pick(['example.com', 'example.net', 'example.org']);
  const number = randomness.integer(10_000, 999_999_999);
  return { first, last, email: `${slug(first)}.${slug(last)}.${number}@${domain}` };
}

/** Returns the name in small letters and digits, for an address. */
export function slug(name: string): string {
  return (
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '') || 'affiliate'
  );
}
