import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerpt } from '../../src/api/answer.ts';
import { basicAuth } from '../../src/api/renewable-wire.ts';
import { makeScrub } from '../../src/api/scrub.ts';

// What config.ts accepts as a secret; short ones are left out, since any text holds them by chance.
const secrets = fc.stringMatching(/^[!-9;-~]{8,80}$/);

describe('scrubbing', () => {
  it('takes out every spelling in which a server may echo a secret', () => {
    fc.assert(
      fc.property(secrets, fc.lorem(), (secret, around) => {
        const base64 = (text: string) => Buffer.from(text).toString('base64');
        const echoes = [
          secret,
          encodeURIComponent(secret),
          JSON.stringify(secret),
          basicAuth(secret),
          base64(secret),
          base64(`${secret}:x`),
          Buffer.from(`${secret}:`).toString('base64url'),
        ];
        const clean = makeScrub(secret)(echoes.map((echo) => `${around} ${echo}`).join('\n'));
        expect(clean).not.toContain(secret);
        expect(clean).not.toContain(encodeURIComponent(secret));
        expect(clean).not.toContain(basicAuth(secret).slice('Basic '.length));
        expect(clean).not.toContain(base64(secret).replace(/=+$/, ''));
        expect(clean.match(/\[secret\]/g)).toHaveLength(echoes.length);
      }),
      {
        // Secrets that are escapes themselves, that begin again within themselves, that are the mark.
        examples: [
          ['sk_live_"Zo&3/+<\\secret>', 'x'],
          ['%2525%41%', 'x'],
          ['\\u0041\\u0042', 'x'],
          ['&amp;&#38;', 'x'],
          ['aaaaaaaaaaab', 'aaaa'],
        ],
      },
    );
  });

  it('leaves a text without the secret as it is', () => {
    expect(makeScrub('sk_live_1234')('Commission not found: 42')).toBe('Commission not found: 42');
  });

  it('takes out the HTML-escaped spelling', () => {
    expect(makeScrub('a<b>"c"&\'d')('<p>a&lt;b&gt;&quot;c&quot;&amp;&#39;d</p>')).toBe('<p>[secret]</p>');
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
