// A bar that shows parts of a whole. Drawn on the server; its label says the same in words.

import { type Html, html } from './html.ts';

export interface BarPart {
  readonly amount: number;
  /** A class of style.css that fills it. */
  readonly fill: 'fill-mark' | 'fill-second' | 'fill-third';
}

const WIDTH = 1000;

/** Parts beyond the whole are cut. `label` is for a screen reader. */
export function bar(label: string, whole: number, parts: readonly BarPart[]): Html {
  let from = 0;
  const drawn = parts.map(({ amount, fill }) => {
    const width = Math.min(WIDTH - from, whole === 0 ? 0 : Math.round((amount / whole) * WIDTH));
    const rect = html`<rect class="${fill}" x="${from}" y="0" width="${width}" height="12"/>`;
    from += width;
    return rect;
  });
  return html`<svg class="bar" role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} 12" preserveAspectRatio="none">
<rect class="fill-ground" x="0" y="0" width="${WIDTH}" height="12"/>${drawn}</svg>`;
}
