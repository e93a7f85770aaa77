// The secret, each of its characters spelled in any way, alone and within encodings of the whole.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeScrub } from '../../src/api/scrub.ts';

/** What config.ts accepts as a secret; short ones are left out, since any text holds them by chance. */
const secrets = fc.stringMatching(/^[!-9;-~]{8,60}$/);

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const HTML = new Map(
  Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }),
);

const SPELLINGS: Readonly<Record<string, (character: string) => string>> = {
  'as it is': (character) => character,
  'percent, lower case': (character) => `%${hex(character)}`,
  'percent, upper case': (character) => `%${hex(character).toUpperCase()}`,
  'percent, twice': (character) => `%25${hex(character)}`,
  'entity, decimal': (character) => `&#${character.charCodeAt(0)};`,
  'entity, with zeros': (character) => `&#000${character.charCodeAt(0)};`,
  'entity, hexadecimal': (character) => `&#x${hex(character)};`,
  'entity, upper case': (character) => `&#X${hex(character).toUpperCase()};`,
  'entity, by name': (character) => HTML.get(character) ?? `&#${character.charCodeAt(0)};`,
  'entity, twice': (character) => `&amp;#${character.charCodeAt(0)};`,
  'entity, in JSON by Rails': (character) => `\\u0026#${character.charCodeAt(0)};`,
  'JSON, as a number': (character) => `\\u00${hex(character)}`,
  'JSON, upper case': (character) => `\\u00${hex(character).toUpperCase()}`,
  'JSON, twice': (character) => `\\\\u00${hex(character)}`,
  'script, as a number': (character) => `\\x${hex(character)}`,
  'JSON, by a backslash': (character) => (/["\\/]/.test(character) ? `\\${character}` : character),
};
const NAMES = Object.keys(SPELLINGS);

const spell = (name: string, character: string) => SPELLINGS[name]?.(character) ?? '';

/** A secret and texts that say it, each character spelled in a way of its own. */
const mixes = secrets.chain((secret) =>
  fc.record({
    secret: fc.constant(secret),
    echoes: fc.array(
      fc
        .array(fc.constantFrom(...NAMES), { minLength: secret.length, maxLength: secret.length })
        .map((names) =>
          Array.from(secret, (character, place) => spell(names[place] ?? '', character)).join(''),
        ),
      { minLength: 10, maxLength: 20 },
    ),
  }),
);
// A scrubber is made once in a process, and costs some milliseconds.
const FEW = { numRuns: 25 };

describe('scrubbing', () => {
  it('takes out a secret whose every character is spelled in another way', () => {
    fc.assert(
      fc.property(mixes, fc.lorem(), ({ secret, echoes }, around) => {
        const scrub = makeScrub(secret);
        for (const echo of echoes) {
          expect(scrub(`${around} ${echo} ${around}`)).toBe(`${around} [secret] ${around}`);
        }
      }),
      FEW,
    );
  });

  it('leaves nothing of a text that could begin as the secret without end', () => {
    const scrub = makeScrub('sk_live_a-secret');
    expect(scrub('sk_l '.repeat(100_000))).toBe('sk_l '.repeat(100_000));
    expect(scrub('sk_l%20'.repeat(100_001))).toBe('[secret]');
  });

  it.each(NAMES)('takes out a secret spelled whole: %s', (name) => {
    const secret = 'sk_live_"Zo&3/+<\\secret>';
    const echo = Array.from(secret, (character) => spell(name, character)).join('');
    expect(makeScrub(secret)(`{"error":"key ${echo}"}`)).toBe('{"error":"key [secret]"}');
  });

  it('takes out hexadecimal and base64, escaped too, wherever in the encoded text the secret is', () => {
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (secret, before, behind) => {
        const bytes = Buffer.from(`${before}${secret}${behind}`);
        const scrub = makeScrub(secret);
        const whole = bytes.toString('hex');
        expect(scrub(whole)).not.toContain(Buffer.from(secret).toString('hex'));
        expect(scrub(whole.toUpperCase())).not.toContain(Buffer.from(secret).toString('hex').toUpperCase());
        for (const alphabet of ['base64', 'base64url'] as const) {
          const encoded = bytes.toString(alphabet);
          for (const echo of [encoded, encodeURIComponent(encoded), encoded.replaceAll('/', '\\/')]) {
            expect(scrub(`(${echo})`)).toContain('[secret]');
          }
        }
      }),
      {
        ...FEW,
        // Base64 takes three bytes at a time: a secret begins at each of them, behind characters of several bytes too.
        examples: ['', 'a', 'ab', 'é', '🦊'].map((before): [string, string, string] => [
          'sk_live_"Zo&3/+',
          before,
          before,
        ]),
      },
    );
  });

  it('leaves the JSON around what it takes out readable', () => {
    fc.assert(
      fc.property(mixes, fc.string(), fc.string(), ({ secret, echoes }, before, behind) => {
        const scrub = makeScrub(secret);
        for (const echo of echoes) {
          const clean = JSON.parse(scrub(JSON.stringify({ before, echo, behind }))) as Record<string, string>;
          expect(clean['echo']).toBe('[secret]');
        }
      }),
      FEW,
    );
  });

  it('leaves a page of records as it is, also one full of escapes', () => {
    const page = JSON.stringify({
      id: '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e',
      url: 'https://example.com/?via=ada&sk_live_other=1%20%C3%A9',
      name: 'Zoë "Z" \\ O\u0027Neil',
    }).replaceAll('/', '\\/');
    const pages = page.repeat(200);
    expect(makeScrub('sk_live_1234567')(pages)).toBe(pages);
  });

  it('looks for a short secret itself, not in identifiers', () => {
    const scrub = makeScrub('key');
    expect(scrub.isSure).toBe(false);
    expect(scrub('6b6579 k%65y')).toBe('6b6579 [secret]');
  });

  // Each text is as bad as can be: a search that started again at every place would take minutes.
  it.each(['\\', '&#0', '%25', '&amp;', 'sk_live_123456', 's', 'A', '0'])(
    'reads a long text of nothing but %o',
    (piece) => {
      const text = piece.repeat(300_000 / piece.length);
      expect(makeScrub('sk_live_1234567')(text)).toBe(text);
      expect(makeScrub('\\'.repeat(40))(`${'\\'.repeat(39)}x${text.replaceAll('\\', '/')}`)).toContain('x');
    },
  );
});
