// No text becomes markup, wherever it is put.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html, type Part } from '../../src/web/html.ts';

const readBack = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

test('a text between tags, or in an attribute, is shown as it is and ends neither', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { text: markup } = html`<p title="${text}">${text}</p>`;
      const [, title = '', body = ''] = /^<p title="([^"<>]*)">([^"<>]*)<\/p>$/s.exec(markup) ?? [];
      expect(readBack(title)).toBe(text);
      expect(readBack(body)).toBe(text);
    }),
  );
});

test('a list is joined and each of its texts escaped; markup stays; null and false are nothing, 0 is not', () => {
  const parts: readonly Part[] = ['<a>', html`<b>`, null, false, 0, ['&']];
  expect(html`${parts}`.text).toBe('&lt;a&gt;<b>0&amp;');
});
