// The last runs as bars: records, requests and duration. A run that did not succeed has a shape as well as a colour.

import { scaleBand } from 'd3-scale';
import { type SymbolType, symbol, symbolCircle, symbolCross, symbolSquare, symbolTriangle } from 'd3-shape';
import { formatCount, formatDay, formatTimestamp } from '../../contract/format.ts';
import type { RunPoint } from '../../reports/read-runs.ts';
import { momentOf, tookOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { column, numbers, table } from '../table.ts';
import { at, drawLabels, drawScale, HALF, plot, scaleHeight, spellCompact } from './plot.ts';

interface RunMeasure {
  readonly id: string;
  readonly title: string;
  /** The heading of its column. */
  readonly unit: string;
  readonly read: (run: RunPoint) => number;
  /** For the table and the tooltips. */
  readonly spell: (value: number) => string;
  /** For the scale; `most` decides the unit. spellCompact if left out. */
  readonly spellTick?: (value: number, most: number) => string;
}

const MEASURES: readonly RunMeasure[] = [
  {
    id: 'chart-records',
    title: 'Records read',
    unit: 'records',
    read: ({ records }) => records,
    spell: formatCount,
  },
  {
    id: 'chart-requests',
    title: 'Requests sent',
    unit: 'requests',
    read: ({ requests }) => requests,
    spell: formatCount,
  },
  {
    id: 'chart-duration',
    title: 'Time taken',
    unit: 'time',
    read: ({ duration_seconds }) => duration_seconds,
    spell: tookOf,
    spellTick: (seconds, most) => {
      const [size, word] = most >= 7200 ? [3600, 'h'] : most >= 120 ? [60, 'min'] : [1, 's'];
      return `${Math.round((seconds / size) * 10) / 10} ${word}`;
    },
  },
];

interface Sign {
  readonly label: string;
  readonly bar: string;
  readonly sign: string;
  readonly shape: SymbolType;
  readonly turn: number;
}

/** By state; a run that succeeded has none. */
const SIGNS: Readonly<Record<string, Sign>> = {
  failed: { label: 'failed', bar: 'bar-bad', sign: 'sign-bad', shape: symbolCross, turn: 45 },
  interrupted: { label: 'interrupted', bar: 'bar-bad', sign: 'sign-bad', shape: symbolSquare, turn: 0 },
  partial: { label: 'partial', bar: 'bar-warn', sign: 'sign-warn', shape: symbolTriangle, turn: 0 },
  running: { label: 'running', bar: 'bar-quiet', sign: 'sign-quiet', shape: symbolCircle, turn: 0 },
};

const SIGN_AREA = 64;
/** Up to this span, labels have the time of day. */
const FEW_DAYS_MS = 3 * 86_400_000;
/** So that a run of nothing is visible. */
const LEAST_HEIGHT = 2;

export function drawRuns(runs: readonly RunPoint[]): Html {
  return html`<div class="charts">${MEASURES.map((measure) => drawMeasure(runs, measure))}</div>`;
}

function drawMeasure(runs: readonly RunPoint[], measure: RunMeasure): Html {
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

function labelsOf(runs: readonly RunPoint[]): string[] {
  const times = runs.map(({ started_at }) => Date.parse(started_at));
  const isShort = Math.max(...times) - Math.min(...times) < FEW_DAYS_MS;
  return runs.map(({ started_at }) =>
    isShort ? formatTimestamp(started_at).slice(5, 16) : formatDay(started_at),
  );
}

function describe(runs: readonly RunPoint[], { read, spell }: RunMeasure): string {
  const bad = runs.filter(({ state }) => state in SIGNS && state !== 'running').length;
  const greatest = runs.reduce((most, run) => Math.max(most, read(run)), 0);
  return `A bar for each of the last ${runs.length} runs, oldest first; the greatest is ${spell(greatest)}. ${bad === 0 ? 'All succeeded or are running.' : `${bad} of them did not succeed, and are marked.`}`;
}
