import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerpt } from '../../src/api/answer.ts';
import { basicAuth } from '../../src/api/renewable-wire.ts';
import { makeScrub } from '../../src/api/scrub.ts';

// What config.ts accepts as a secret; short ones are left out, since any text holds them by chance.
const secrets = fc.stringMatching(/^[!-9;-~]{8,80}$/);

describe('scrubbing', () => {
  it('takes out a secret as it is, escaped by JSON, percent-encoded and as its header', () => {
    fc.assert(
      fc.property(secrets, fc.lorem(), (secret, around) => {
        const echoes = [
          secret,
          encodeURIComponent(secret),
          JSON.stringify(secret),
          JSON.stringify(secret).replaceAll('/', '\\/'),
          basicAuth(secret),
        ];
        const text = echoes.map((echo) => `${around} ${echo}`).join('\n');
        const scrub = makeScrub(secret);
        expect(scrub.inBytes(Buffer.from(text)).toString()).toBe(scrub(text));
        for (const echo of echoes) expect(scrub(text)).not.toContain(echo);
      }),
      {
        // Secrets that are escapes themselves, that begin again within themselves.
        examples: [
          ['sk_live_"Zo&3/+<\\secret>', 'x'],
          ['%2525%41%', 'x'],
          ['\\u0041\\u0042', 'x'],
          ['aaaaaaaaaaab', 'aaaa'],
        ],
      },
    );
  });

  it('leaves a text without the secret as it is', () => {
    expect(makeScrub('sk_live_1234')('Commission not found: 42')).toBe('Commission not found: 42');
  });
});

describe('an excerpt', () => {
  it('is on one line, without what could control a terminal', () => {
    expect(excerpt('  <html>\r\n\t<b>\u001b[31mred\u0000\u202e ')).toBe('<html> <b> [31mred');
  });

  it.each([' ', '"', '<', '>'])(
    'has no part of an address that stands after %j where it is cut',
    (before) => {
      const address = 'jane.miller@people.example';
      for (let length = 120; length < 160; length += 1) {
        const text = excerpt(`${'x'.repeat(length)}${before}${address} is locked`);
        expect(text.includes(address) || !text.includes('jane')).toBe(true);
      }
    },
  );

  it('is cut where it is long', () => {
    const long = excerpt('xy '.repeat(100_000));
    expect(long).toMatch(/^(xy )+xy…$/);
    expect(long.length).toBeLessThan(200);
  });
});
