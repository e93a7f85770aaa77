// The last runs as bars, one for each: how many records, how many requests, or how long. One that did not succeed is
// marked by a shape as well as by a colour.

import { scaleBand } from 'd3-scale';
import { type SymbolType, symbol, symbolCircle, symbolCross, symbolSquare, symbolTriangle } from 'd3-shape';
import type { RunPoint } from '../../reports/read-runs.ts';
import { type Html, html } from '../html.ts';
import { column, numbers, table } from '../table.ts';
import { momentOf } from '../words.ts';
import { at, drawLabels, drawScale, HALF, plot, scaleHeight, spellCompact } from './plot.ts';

export interface RunMeasure {
  readonly id: string;
  readonly title: string;
  /** What is counted: the heading of its column. */
  readonly unit: string;
  readonly read: (run: RunPoint) => number;
  /** Returns a figure as the table and the tips spell it. */
  readonly spell: (value: number) => string;
  /** Returns what a line of the scale is called; the greatest value says in which unit. Spelled short if left out. */
  readonly spellTick?: (value: number, most: number) => string;
}

interface Sign {
  readonly label: string;
  readonly bar: string;
  readonly sign: string;
  readonly shape: SymbolType;
  readonly turn: number;
}

/** A run that succeeded has none. */
const SIGNS: Readonly<Record<string, Sign>> = {
  failed: { label: 'failed', bar: 'bar-bad', sign: 'sign-bad', shape: symbolCross, turn: 45 },
  interrupted: { label: 'interrupted', bar: 'bar-bad', sign: 'sign-bad', shape: symbolSquare, turn: 0 },
  partial: { label: 'partial', bar: 'bar-warn', sign: 'sign-warn', shape: symbolTriangle, turn: 0 },
  running: { label: 'running', bar: 'bar-quiet', sign: 'sign-quiet', shape: symbolCircle, turn: 0 },
};

const SIGN_AREA = 64;
/** Within these, labels have the time of day. */
const FEW_DAYS_MS = 3 * 86_400_000;
/** A run of next to nothing is still a run. */
const LEAST_HEIGHT = 2;

/** Returns the chart of one measure. */
export function drawRuns(runs: readonly RunPoint[], measure: RunMeasure): Html {
  const box = HALF;
  const { id, title, read, spell, spellTick = spellCompact } = measure;
  const most = Math.max(1, ...runs.map(read));
  const height = scaleHeight(box, [most]);
  const place = scaleBand<number>()
    .domain(runs.map((run) => run.id))
    .range([box.left, box.width - box.right])
    .padding(0.2);
  const width = Math.min(place.bandwidth(), 24);
  const center = (index: number) => (place(runs[index]?.id ?? 0) ?? 0) + place.bandwidth() / 2;
  const bars = runs.map((run, index) => {
    const top = Math.min(height(read(run)), height(0) - LEAST_HEIGHT);
    const sign = SIGNS[run.state];
    return html`<g class="run"><title>${`run ${run.id} of ${run.resource}, ${run.state}: ${spell(read(run))}`}</title><rect class="${sign?.bar ?? 'bar-mark'}" x="${at(center(index) - width / 2)}" y="${at(top)}" width="${at(width)}" height="${at(height(0) - top)}"/>${
      sign !== undefined && drawSign(sign, center(index), top - 9)
    }</g>\n`;
  });
  const met = Object.entries(SIGNS).filter(([state]) => runs.some((run) => run.state === state));
  return plot({
    id,
    title,
    description: describe(runs, measure),
    box,
    drawing: [
      drawScale(height, box, (value) => spellTick(value, most)),
      bars,
      drawLabels(labelsOf(runs), box, center),
    ],
    key: met.map(([, sign]) => ({ label: sign.label, sign: drawSign(sign, 11, 6) })),
    figures: table(title, runs, [
      column('run', ({ id: run }) => String(run)),
      column('resource', ({ resource }) => resource),
      column('state', ({ state }) => state),
      column('started', ({ started_at }) => momentOf(started_at)),
      numbers(measure.unit, (run) => spell(read(run))),
    ]),
  });
}

function drawSign({ shape, sign, turn }: Sign, x: number, y: number): Html {
  const path = symbol(shape, SIGN_AREA)() ?? '';
  return html`<path class="${sign}" transform="translate(${at(x)} ${at(y)}) rotate(${turn})" d="${path}"/>`;
}

// Days alone would be the same day again and again.
function labelsOf(runs: readonly RunPoint[]): string[] {
  const times = runs.map(({ started_at }) => Date.parse(started_at));
  const isShort = Math.max(...times) - Math.min(...times) < FEW_DAYS_MS;
  return runs.map(({ started_at }) =>
    isShort ? started_at.slice(5, 16).replace('T', ' ') : started_at.slice(0, 10),
  );
}

function describe(runs: readonly RunPoint[], { read, spell }: RunMeasure): string {
  const bad = runs.filter(({ state }) => state in SIGNS && state !== 'running').length;
  const greatest = runs.reduce((most, run) => Math.max(most, read(run)), 0);
  return `A bar for each of the last ${runs.length} runs, oldest first; the greatest is ${spell(greatest)}. ${bad === 0 ? 'All succeeded or are running.' : `${bad} of them did not succeed, and are marked.`}`;
}
