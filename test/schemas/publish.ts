// Writes docs/schemas/ anew from the shapes in src/cli/documents/: `npm run schemas`.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/read-docs.ts';
import { DOCUMENTS, describeDocument } from './documents.ts';

const DIRECTORY = join(ROOT, 'docs/schemas');

for (const name of readdirSync(DIRECTORY)) rmSync(join(DIRECTORY, name));
for (const [name, document] of Object.entries(DOCUMENTS)) {
  writeFileSync(join(DIRECTORY, `${name}.json`), describeDocument(document));
}
