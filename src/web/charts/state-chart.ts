// Payment requests by state, as bars with their counts.

import { scaleLinear } from 'd3-scale';
import { counted, formatCount } from '../../contract/format.ts';
import type { StateLine } from '../../reports/read-payments.ts';
import { html } from '../html.ts';
import { toneOf } from '../state-mark.ts';
import { column, numbers, table } from '../table.ts';
import { at, HALF, plot } from './plot.ts';

/** Room for the longest state, and for a count; the letters are larger on a phone. */
const BOX = { ...HALF, left: 130, right: 90 };
const LINE_HEIGHT = 34;
/** So that one request of a thousand is visible. */
const LEAST_WIDTH = 2;

export function drawStates(states: readonly StateLine[]) {
  const title = 'Payment requests by state';
  const most = Math.max(...states.map(({ requests }) => requests));
  const width = scaleLinear()
    .domain([0, most])
    .range([LEAST_WIDTH, BOX.width - BOX.left - BOX.right]);
  const bars = states.map(({ state, requests, needing_attention }, index) => {
    const top = index * LINE_HEIGHT;
    return html`<text x="${BOX.left - 8}" y="${top + 20}" text-anchor="end">${wordsOf(state)}</text><rect class="bar-${toneOf(state, needing_attention > 0)}" x="${BOX.left}" y="${top + 4}" width="${at(width(requests))}" height="${LINE_HEIGHT - 8}"/><text x="${at(BOX.left + width(requests) + 8)}" y="${top + 20}">${formatCount(requests)}</text>\n`;
  });
  return plot({
    id: 'states-chart',
    title,
    description: states
      .map(({ state, requests }) => `${wordsOf(state)}: ${counted(requests, 'request')}`)
      .join(', '),
    box: { ...BOX, height: states.length * LINE_HEIGHT },
    drawing: bars,
    key: [],
    figures: table(title, states, [
      column('state', ({ state }) => wordsOf(state)),
      numbers('requests', ({ requests }) => formatCount(requests)),
      numbers('need attention', ({ needing_attention }) => formatCount(needing_attention)),
    ]),
  });
}

function wordsOf(state: string): string {
  return state.replaceAll('_', ' ');
}
