// How the pages beside the overview look: charts with their colours by class, light and dark, and with letters that can
// be read where a chart is small; lists of facts, and the way through long tables.

import { html } from './html.ts';

export const PAGE_STYLE = html`
.chart { margin: 0 0 4px; container-type: inline-size; }
.chart > figcaption { font-size: 14px; font-weight: 600; margin: 0 0 4px; }
.chart svg.plot { width: 100%; height: auto; overflow: visible; }
.chart svg.plot text { font-size: 9px; fill: var(--quiet); }
@container (max-width: 860px) { .chart svg.plot text { font-size: 12px; } }
@container (max-width: 560px) { .chart svg.plot text { font-size: 17px; } }
@container (max-width: 400px) { .chart svg.plot text { font-size: 27px; } }
.charts .chart svg.plot text { font-size: 17px; }
.chart path { vector-effect: non-scaling-stroke; }
.chart .grid-line { stroke: var(--line); stroke-width: 1; }
.chart .base-line { stroke: var(--quiet); stroke-width: 1; }
.chart .bar-mark { fill: var(--mark); }
.chart .bar-bad { fill: var(--bad); }
.chart .bar-warn { fill: var(--warn); }
.chart .bar-quiet { fill: var(--surface); stroke: var(--quiet); stroke-width: 1.5; }
.chart .sign-bad { fill: var(--bad); }
.chart .sign-warn { fill: var(--warn); }
.chart .sign-quiet { fill: var(--quiet); }
.chart .line-first { fill: none; stroke: var(--mark); stroke-width: 2.5; }
.chart .line-second { fill: none; stroke: var(--mark-second); stroke-width: 2.5; stroke-dasharray: 7 4; }
.chart .line-third { fill: none; stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 2 3; }
.chart .part { stroke: var(--surface); stroke-width: 1; }
.chart .part-paid { fill: var(--good); }
.chart .part-overdue { fill: var(--bad); }
.chart .part-due { fill: var(--mark); }
.chart .part-withheld { fill: var(--mark-second); }
.chart .part-pending { fill: var(--surface); stroke: var(--quiet); }
.chart .key svg { width: 22px; height: 12px; vertical-align: -1px; overflow: visible; }
.chart details { font-size: 13px; margin: 4px 0 0; }
.chart details summary { cursor: pointer; color: var(--quiet); width: max-content; }
.charts { display: grid; gap: 16px 28px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 270px), 1fr)); }
.ranges { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; margin: 0 0 8px; padding: 0; }
.ranges a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
dl.facts { display: grid; gap: 4px 24px; margin: 0 0 8px; }
dl.facts > div { display: grid; grid-template-columns: minmax(9ch, 34%) minmax(0, 1fr); gap: 0 12px; }
dl.facts dt { color: var(--quiet); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
dl.facts time, dl.facts .state { white-space: normal; }
@media (min-width: 700px) { dl.facts > div { grid-template-columns: 22ch minmax(0, 1fr); } }
.scroll + p, .chart + p { margin-top: 10px; }
dl.error dt { font-weight: 600; }
dl.error dd { margin: 0; max-width: 74ch; }
section > .chart + .chart { margin-top: 22px; }
.pager a { color: var(--link); text-decoration: underline; }
.pager { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 10px 0 0; }
.state { white-space: nowrap; }
.sum { font-size: 16px; overflow-wrap: anywhere; }
.long { display: block; min-width: 24ch; max-width: 60ch; overflow-wrap: anywhere; }
.brief { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
.short { display: block; min-width: 14ch; max-width: 22ch; overflow-wrap: anywhere; }
td code { white-space: nowrap; }
td code.short { white-space: normal; }
pre.payload { white-space: pre-wrap; overflow-wrap: anywhere; margin: 4px 0 0; max-height: 20em; overflow: auto; }
`;
