// How the site looks: one sheet, inside every page, allowed by its hash. Light and dark, from 360 px on. No page sets a
// style of its own: what is drawn has its measures as attributes, and its colours from classes.

import { createHash } from 'node:crypto';
import { html } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';

export const STYLE = html`
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f7f5, #15171a);
  --surface: light-dark(#ffffff, #1c1f23);
  --line: light-dark(#dfdfda, #33383f);
  --text: light-dark(#1d2125, #e6e8ea);
  --quiet: light-dark(#5b636b, #a3abb4);
  --link: light-dark(#0b5394, #8ab8ec);
  --good: light-dark(#1a6b3c, #6fcf97);
  --good-ground: light-dark(#e9f5ee, #17301f);
  --warn: light-dark(#7a4b00, #f0b95a);
  --warn-ground: light-dark(#fdf3df, #35280f);
  --bad: light-dark(#a3231f, #f5918c);
  --bad-ground: light-dark(#fcebea, #3a1917);
  --mark: light-dark(#3b6ea5, #6ea3dc);
  --mark-second: light-dark(#a8702a, #d6a25c);
  --mark-third: light-dark(#6b4e9b, #b39ddb);
  --mark-quiet: light-dark(#c9cdd2, #4a515a);
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums;
}
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 8px; top: -60px; padding: 8px 12px; background: var(--surface); z-index: 1; }
.skip:focus { top: 8px; }

body > header, main, body > footer { max-width: 1180px; margin: 0 auto; padding-inline: clamp(14px, 3vw, 28px); }
body > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 28px; padding-block: 16px 0; }
.name { margin: 0; font-weight: 650; letter-spacing: -.01em; }
.name a { color: inherit; text-decoration: none; }
.name a:hover { text-decoration: underline; }
.name small { font-weight: 400; color: var(--quiet); font-size: 13px; margin-left: 6px; }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 18px; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: 4px 0; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--text); }
nav a[aria-current] { color: var(--text); border-bottom-color: var(--mark); font-weight: 600; }
.tools { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 0 auto; font-size: 13px; color: var(--quiet); }
.tools > * { padding: 4px 0; }
.live::before {
  content: ''; display: inline-block; width: 7px; height: 7px; border-radius: 50%; margin-right: 6px;
  background: var(--good); vertical-align: 1px;
}
.live.away::before { background: var(--mark-quiet); }
main { padding-block: 20px 24px; }
body > footer { padding-block: 14px 28px; color: var(--quiet); font-size: 13px; display: flex; flex-wrap: wrap; gap: 2px 20px; }
body > footer p { margin: 0; }

h1 { font-size: 22px; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 12px; font-weight: 650; }
h2 { font-size: 15px; line-height: 1.3; margin: 0 0 10px; font-weight: 650; }
p { margin: 0 0 8px; max-width: 84ch; }
small, .quiet { color: var(--quiet); }
section {
  position: relative; background: var(--surface); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px 18px 14px; margin: 0 0 16px; min-width: 0;
}
.grid { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 16px; }
@media (min-width: 860px) { .grid { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }

.verdict { border-left: 5px solid var(--good); background: var(--good-ground); }
.verdict.bad { border-left-color: var(--bad); background: var(--bad-ground); }
.verdict.warn { border-left-color: var(--warn); background: var(--warn-ground); }
.verdict h1 { color: var(--good); margin-bottom: 4px; }
.verdict.bad h1 { color: var(--bad); }
.verdict.warn h1 { color: var(--warn); }
.verdict p { margin: 0; }
.concerns { list-style: none; margin: 10px 0 0; padding: 0; display: grid; gap: 10px; }
.concerns li { max-width: 90ch; overflow-wrap: anywhere; }

code { font: 13px/1.5 ui-monospace, 'SFMono-Regular', Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
code.run { -webkit-box-decoration-break: clone; box-decoration-break: clone; background: var(--ground); border: 1px solid var(--line); border-radius: 4px; padding: 1px 6px; }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.verdict.warn, .verdict.bad { color: var(--text); }

.scroll { overflow-x: auto; margin: 0 -18px; padding: 0 18px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--quiet); font-weight: 500; font-size: 13px; white-space: nowrap; }
tbody th { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
time { white-space: nowrap; }
dl.figures { display: flex; flex-wrap: wrap; gap: 10px 28px; margin: 0 0 8px; }
dl.figures > div { min-width: 90px; }
dl.figures dt { color: var(--quiet); font-size: 13px; }
dl.figures dd { margin: 0; font-size: 20px; font-weight: 600; letter-spacing: -.01em; }
ul.rows { list-style: none; margin: 0; padding: 0; }
ul.rows > li { padding: 8px 0; border-bottom: 1px solid var(--line); }
ul.rows > li:first-child { padding-top: 2px; }
ul.rows > li:last-child { border-bottom: 0; padding-bottom: 2px; }
ul.rows p { margin: 0; max-width: none; }
.split { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 16px; }

svg { display: block; max-width: 100%; height: auto; }
svg.bar { width: 100%; height: 12px; margin: 6px 0; }
svg text { fill: var(--quiet); font-size: 12px; }
.fill-ground { fill: var(--mark-quiet); } .fill-mark { fill: var(--mark); } .fill-second { fill: var(--mark-second); }
.fill-third { fill: var(--mark-third); }
.key { display: flex; flex-wrap: wrap; gap: 2px 16px; list-style: none; padding: 0; margin: 0 0 6px; font-size: 14px; }
.key svg { display: inline-block; width: 10px; height: 10px; margin-right: 6px; }

section > h1, section > h2 { margin-right: 60px; }
details.sql { font-size: 13px; }
details.sql summary {
  position: absolute; top: 14px; right: 16px; cursor: pointer; color: var(--quiet); list-style: none;
  border: 1px solid var(--line); border-radius: 5px; padding: 0 7px; background: var(--surface);
}
details.sql summary::-webkit-details-marker { display: none; }
details.sql summary:hover, details.sql[open] summary { color: var(--text); border-color: var(--quiet); }
details.sql pre {
  white-space: pre-wrap; overflow-wrap: anywhere; margin: 10px 0 0; padding: 10px 12px;
  background: var(--ground); border: 1px solid var(--line); border-radius: 6px;
}
form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 0 0 12px; }
label { font-size: 13px; color: var(--quiet); display: grid; gap: 2px; }
input, select, button {
  font: inherit; font-size: 14px; color: var(--text); background: var(--ground); padding: 5px 9px; min-height: 34px;
  border: 1px solid light-dark(#85898d, #79818a); border-radius: 5px;
}
button { cursor: pointer; background: var(--surface); font-weight: 600; }
${PAGE_STYLE}
@media print { nav, .tools, .skip, details.sql { display: none; } }
@media (prefers-contrast: more) { :root { --line: light-dark(#767676, #8f969e); --quiet: var(--text); } }
@media (forced-colors: active) { .verdict { border-left-width: 8px; } }
`;

/** As a policy names it. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE.text).digest('base64')}`;
