// The style and the script of the site: files of assets/, which the package carries at the same place. The style is
// inside every view, also a refusal's, and allowed by its hash; the script is served at /live.js.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_DIRECTORY } from '../base/package.ts';
import { Html } from './html.ts';

const DIRECTORY = join(PACKAGE_DIRECTORY, 'src/web/assets');

export const STYLE = new Html(readFileSync(join(DIRECTORY, 'style.css'), 'utf8'));

/** As the content security policy names it. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE.text).digest('base64')}`;

export const LIVE_SCRIPT = readFileSync(join(DIRECTORY, 'live.js'), 'utf8');
