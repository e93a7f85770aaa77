// Draws what deltas cost as docs/images/delta-cost.svg: requests, and CPU time of process and Postgres, a bar for each.
// An image on a page knows nothing of that page: it has a ground of its own, in light and in dark.

import { scaleBand, scaleLinear } from 'd3-scale';
import type { SyncCost } from './measure-delta.ts';

interface Panel {
  readonly title: string;
  /** Of each bar from the bottom, with the class of each part. */
  readonly parts: readonly { readonly className: string; readonly values: readonly number[] }[];
  readonly spell: (value: number) => string;
}

/** Units: those of the drawing. */
const WIDTH = 760;
const HEIGHT = 320;
const PANEL = { width: 352, left: 20, gap: 16, top: 62, bottom: 272 };
const FOOT = 304;

const STYLE = `
  :root { --ground: #ffffff; --text: #1d2125; --quiet: #5b636b; --line: #b9bec4; --first: #3b6ea5; --second: #a8702a; }
  @media (prefers-color-scheme: dark) {
    :root { --ground: #1c1f23; --text: #e6e8ea; --quiet: #a3abb4; --line: #4a515a; --first: #6ea3dc; --second: #d6a25c; }
  }
  .ground { fill: var(--ground); }
  .first { fill: var(--first); }
  .second { fill: var(--second); }
  .base { stroke: var(--line); }
  text { fill: var(--text); font: 13px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif; }
  .title { font-weight: 600; font-size: 14px; }
  .quiet { fill: var(--quiet); }`;

/** Returns the chart of the costs, each with its name below it. */
export function drawDeltaCost(costs: readonly SyncCost[]): string {
  const requests: Panel = {
    title: 'Requests',
    parts: [{ className: 'first', values: costs.map((cost) => cost.requests) }],
    spell: (value) => Math.round(value).toLocaleString('en'),
  };
  const cpu: Panel = {
    title: 'CPU time',
    parts: [
      { className: 'first', values: costs.map(({ processSeconds }) => processSeconds) },
      { className: 'second', values: costs.map(({ serverSeconds }) => serverSeconds ?? 0) },
    ],
    spell: (value) => `${value.toPrecision(2)} s`,
  };
  const names = costs.map(({ name }) => name);
  const drawn = [requests, cpu].map((panel, index) => drawPanel(panel, names, index));
  const words = costs.map(
    (cost, index) =>
      `${cost.name}: ${requests.spell(cost.requests)} requests and ${cpu.spell(totalOf(cpu, index))}`,
  );
  const keyLeft = PANEL.left + PANEL.width + PANEL.gap + 96;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title words">
<title id="title">What a delta costs by the share of referrals that changed, beside a full sync</title>
<desc id="words">${words.join('; ')}.</desc>
<style>${STYLE}
</style>
<rect class="ground" width="100%" height="100%" rx="8"/>
${drawn.join('\n')}
<rect class="first" x="${keyLeft}" y="20" width="12" height="12"/><text x="${keyLeft + 18}" y="31">process</text>
<rect class="second" x="${keyLeft + 84}" y="20" width="12" height="12"/><text x="${keyLeft + 102}" y="31">Postgres</text>
<text class="quiet" x="${PANEL.left}" y="${FOOT + 4}">Share of referrals that changed since the last sync</text>
</svg>
`;
}

function drawPanel(panel: Panel, names: readonly string[], index: number): string {
  const left = PANEL.left + index * (PANEL.width + PANEL.gap);
  const totals = names.map((_, bar) => totalOf(panel, bar));
  const height = scaleLinear()
    .domain([0, Math.max(...totals)])
    .range([PANEL.bottom, PANEL.top]);
  const place = scaleBand()
    .domain(names)
    .range([left, left + PANEL.width])
    .padding(0.3);
  const bars = names.map((name, bar) => {
    const x = place(name) ?? 0;
    const center = at(x + place.bandwidth() / 2);
    let below = 0;
    const parts = panel.parts.map(({ className, values }) => {
      const value = values[bar] ?? 0;
      const [from, to] = [height(below), height(below + value)];
      below += value;
      return `<rect class="${className}" x="${at(x)}" y="${at(to)}" width="${at(place.bandwidth())}" height="${at(from - to)}"/>`;
    });
    const worth = `<text x="${center}" y="${at(height(below) - 6)}" text-anchor="middle">${panel.spell(below)}</text>`;
    const label = `<text class="quiet" x="${center}" y="${PANEL.bottom + 18}" text-anchor="middle">${name}</text>`;
    return [...parts, worth, label].join('');
  });
  return `<text class="title" x="${left}" y="31">${panel.title}</text>
${bars.join('\n')}
<line class="base" x1="${left}" x2="${left + PANEL.width}" y1="${PANEL.bottom}" y2="${PANEL.bottom}"/>`;
}

function totalOf({ parts }: Panel, bar: number): number {
  return parts.reduce((sum, { values }) => sum + (values[bar] ?? 0), 0);
}

/** Returns a coordinate as text: a tenth is finer than any screen. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}
