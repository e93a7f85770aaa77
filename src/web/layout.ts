// The frame around every page: who and where, the way to the other pages, and the time of the database.

import type { Timestamp } from '../contract/timestamp.ts';
import { readVersion } from '../package.ts';
import { type Html, html } from './html.ts';
import { STYLE } from './style.ts';
import { momentOf } from './words.ts';

export interface Frame {
  /** Null for whoever is not let in. */
  readonly schema: string | null;
  readonly href: (path: string) => string;
  /** Pages with a name, in their order; none for whoever is not let in. */
  readonly navigation: readonly { readonly label: string; readonly path: string }[];
  /** Of the page that is shown, with its query; null where it is none that can be asked for again. */
  readonly here: string | null;
  /** Whether personal data are shown to this person, could be with a password, or are to nobody. */
  readonly people: 'shown' | 'hidden' | 'never';
  /** The database's time; null where it does not answer, or nobody asked it. */
  readonly now: Timestamp | null;
}

/**
 * The package's bundler rewrites a tagged template that holds the end of a script, by a helper that nobody installs.
 */
const SLASH = '/';

/** Returns the whole document. */
export function renderFrame(frame: Frame, { title, body }: { title: string; body: Html }): string {
  const { schema, href, navigation, here, now } = frame;
  const place = here?.split('?')[0] ?? null;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · affiliate-mirror</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style>${STYLE}</style>
${here !== null && html`<script src="${href('/live.js')}" defer><${SLASH}script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="name"><a href="${href('/')}">affiliate-mirror</a> ${schema !== null && html`<small>schema ${schema}</small>`}</p>
${
  navigation.length > 0 &&
  html`<nav aria-label="Pages"><ul>${navigation.map(
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
${now !== null && html`<p>Database time ${momentOf(now)} UTC. Every time on this page is UTC.</p>`}
</footer>
</body>
</html>
`.text;
}

// A run's own page is one of the runs.
function isWithin(place: string | null, path: string): boolean {
  return place !== null && (place === path || (path !== '/' && place.startsWith(`${path}/`)));
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
