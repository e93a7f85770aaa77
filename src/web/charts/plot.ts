// The parts that every chart has: a drawing with a description, its key, and its figures as a table. Drawn on the
// server, without a script.

import { type ScaleLinear, scaleLinear } from 'd3-scale';
import { type Html, html, type Part } from '../html.ts';

/** In units of the drawing, which is as wide as its place in the view. */
export interface Box {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Room for letters that are larger on a phone. */
export const WIDE: Box = { width: 720, height: 250, left: 62, right: 14, top: 14, bottom: 34 };
export const HALF: Box = { width: 480, height: 210, left: 58, right: 12, top: 22, bottom: 32 };

export interface KeyEntry {
  readonly label: string;
  /** Drawn in a box of 22 by 12. */
  readonly sign: Html;
}

export interface PlotParts {
  /** Lower-case letters and hyphens, once in a view. */
  readonly id: string;
  readonly title: string;
  /** A sentence or two, for a screen reader. */
  readonly description: string;
  readonly box: Box;
  readonly drawing: Part;
  readonly key: readonly KeyEntry[];
  /** A table. */
  readonly figures: Html;
}

/** The scale includes 0 and all values. */
export function scaleHeight(
  { height, bottom, top }: Box,
  values: readonly number[],
): ScaleLinear<number, number> {
  return scaleLinear()
    .domain([Math.min(0, ...values), Math.max(1, ...values)])
    .nice(4)
    .range([height - bottom, top]);
}

export function plot({ id, title, description, box, drawing, key, figures }: PlotParts): Html {
  return html`<figure class="chart${box.width === HALF.width && ' half'}" id="${id}">
<figcaption>${title}</figcaption>
${
  key.length > 0 &&
  html`<ul class="key">${key.map(
    ({ label, sign }) =>
      html`<li><svg viewBox="0 0 22 12" aria-hidden="true" focusable="false">${sign}</svg>${label}</li>\n`,
  )}</ul>`
}
<svg class="plot" viewBox="0 0 ${box.width} ${box.height}" role="img" aria-labelledby="${id}-name ${id}-words">
<title id="${id}-name">${title}</title>
<desc id="${id}-words">${description}</desc>
${drawing}
</svg>
<details><summary>Figures<span class="hidden"> of ${title}</span></summary>
${figures}
</details>
</figure>`;
}

/** Returns the line with the sums of what lies before or after the drawing; null if there is nothing. */
export function sayBeyond(when: 'Earlier' | 'Later', sums: readonly string[]): Html | null {
  return sums.length === 0 ? null : html`<p>${when}: ${sums.join(', ')}.</p>`;
}

/** Returns the horizontal lines of the scale with their values. */
export function drawScale(
  scale: ScaleLinear<number, number>,
  box: Box,
  spell: (value: number) => string,
): Html[] {
  return scale
    .ticks(4)
    .map(
      (tick) =>
        html`<line class="${tick === 0 ? 'base-line' : 'grid-line'}" x1="${box.left}" x2="${box.width - box.right}" y1="${at(scale(tick))}" y2="${at(scale(tick))}"/><text x="${box.left - 8}" y="${at(scale(tick) + 4)}" text-anchor="end">${spell(tick)}</text>\n`,
    );
}

/** Returns the first, the middle and the last label, below the drawing; without the middle if there are only a few. */
export function drawLabels(labels: readonly string[], box: Box, center: (index: number) => number): Html[] {
  const last = labels.length - 1;
  const places = [...new Set(last < 4 ? [0, last] : [0, Math.floor(last / 2), last])].filter(
    (place) => place >= 0,
  );
  return places.map((place) => {
    const anchor = last === 0 ? 'middle' : place === 0 ? 'start' : place === last ? 'end' : 'middle';
    const x = anchor === 'start' ? box.left : anchor === 'end' ? box.width - box.right : center(place);
    return html`<text x="${at(x)}" y="${box.height - 8}" text-anchor="${anchor}">${labels[place] ?? ''}</text>\n`;
  });
}

/** A tenth of a unit is finer than any screen. */
export function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** Returns 1200000 as `1.2M`. */
export function spellCompact(value: number): string {
  return COMPACT.format(value);
}
