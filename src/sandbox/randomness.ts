// The sandbox's only source of randomness: the same seed gives the same program. People are drawn here too.

import { base, en, Faker, generateMersenne53Randomizer } from '@faker-js/faker';

export interface Randomness {
  /** Names, words and addresses, drawn from the same seed. */
  readonly faker: Faker;
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  integer(from: number, to: number): number;
  /** True in the given share of draws. */
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  uuid(): string;
  /** Letters and digits, as the payment processor's identifiers have them. */
  token(length: number): string;
}

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Draws the same values for the same seeds. */
export function makeRandomness(...seeds: readonly number[]): Randomness {
  const randomizer = generateMersenne53Randomizer();
  randomizer.seed([...seeds]);
  const faker = new Faker({ locale: [en, base], randomizer });
  const next = () => randomizer.next();
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    faker,
    next,
    integer,
    chance: (share) => next() < share,
    pick<T>(items: readonly T[]): T {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
    uuid: () => faker.string.uuid(),
    token: (length) => Array.from({ length }, () => ALPHABET[integer(0, ALPHABET.length - 1)]).join(''),
  };
}

/** Names that a mirror must preserve exactly. */
const UNUSUAL_NAMES = ['Zoë', 'José', 'Łukasz', 'Nguyễn', '美咲', "D'Arcy", 'Ana "Nita"', 'Back\\slash'];

/** Returns a name with an address that no person has. */
export function inventPerson(randomness: Randomness): { first: string; last: string; email: string } {
  const isUnusual = randomness.chance(0.02);
  const first = isUnusual ? randomness.pick(UNUSUAL_NAMES) : randomness.faker.person.firstName();
  const last = randomness.faker.person.lastName();
  // Addresses of reserved domains: no person's mail.
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
