// The frame around every view: header, navigation, footer with the time of the database.

import { readVersion } from '../base/package.ts';
import { displayZone } from '../contract/time-zone.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { STYLE } from './assets.ts';
import { momentOf } from './cells.ts';
import { type Html, html } from './html.ts';

export interface Frame {
  /** Null in the list of programs, and in a refusal. */
  readonly schema: string | null;
  /** Its name; null for the one that the environment describes, and as above. */
  readonly program: string | null;
  /** Returns the address of a path of the site. */
  readonly href: (path: string) => string;
  /** Path of the program's views, without a final slash. */
  readonly root: string;
  /** Views with a name, in their order; none in a refusal. */
  readonly navigation: readonly NavigationItem[];
  /** Path of this view, with its query; null if it cannot be reloaded. */
  readonly here: string | null;
  /** `hidden`: a password would show them. */
  readonly people: 'shown' | 'hidden' | 'never';
  /** The database's time; null if it does not answer, or was not asked. */
  readonly now: Timestamp | null;
}

export interface NavigationItem {
  readonly label: string;
  /** Of the site. */
  readonly path: string;
}

// The package's bundler rewrites a tagged template that contains the end tag of a script, by a helper that is not
// installed.
const SLASH = '/';

export function renderFrame(frame: Frame, { title, body }: { title: string; body: Html }): string {
  const { schema, program, href, root, navigation, here, now } = frame;
  const place = here?.split('?')[0] ?? null;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · ${program !== null && `${program} · `}affiliate-mirror</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style>${STYLE}</style>
${here !== null && html`<script src="${href(`${root}/live.js`)}" defer><${SLASH}script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="name"><a href="${href('/')}">affiliate-mirror</a> ${program !== null && html`<strong>${program}</strong>`} ${schema !== null && html`<small>schema ${schema}</small>`}</p>
${
  navigation.length > 0 &&
  html`<nav aria-label="Views"><ul>${navigation.map(
    ({ label, path }) =>
      html`<li><a href="${href(path)}"${isWithin(place, path) && html` aria-current="page"`}>${label}</a></li>\n`,
  )}</ul></nav>`
}
${here !== null && renderTools(frame, here)}
</header>
<main id="main" tabindex="-1">
${body}
</main>
<footer>
<p>affiliate-mirror ${readVersion()}</p>
${now !== null && html`<p>Database time ${momentOf(now)}${displayZone() === 'UTC' && ' UTC'}. Every time on this page is ${displayZone() === 'UTC' ? 'UTC' : `in ${displayZone()}`}.</p>`}
</footer>
</body>
</html>
`.text;
}

// A run's own view is one of the runs. An overview's path ends with a slash, and no other view is one of it.
function isWithin(place: string | null, path: string): boolean {
  if (place === null) return false;
  return path.endsWith('/') ? [path, path.slice(0, -1)].includes(place) : `${place}/`.startsWith(`${path}/`);
}

function renderTools({ href, people }: Frame, here: string): Html {
  const back = `/personal-data?back=${encodeURIComponent(here)}`;
  return html`<div class="tools">
${people === 'hidden' && html`<a href="${href(back)}">Show personal data</a>`}
${people === 'shown' && html`<span>Personal data are shown</span>`}
<a id="refresh" href="${href(here)}">Refresh</a>
<span id="live" class="live" hidden>Updates itself</span>
<span id="updated" class="hidden" role="status"></span>
</div>`;
}
