// The published schemas are those of the documents that the commands print.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DOCUMENTS, describeDocument } from '../../../tools/schemas/documents.ts';
import { ROOT } from '../../support/read-docs.ts';

const DIRECTORY = join(ROOT, 'docs/schemas');

test('docs/schemas holds the schema of every document, and no other', () => {
  expect(readdirSync(DIRECTORY).toSorted()).toEqual(
    Object.keys(DOCUMENTS)
      .map((name) => `${name}.json`)
      .toSorted(),
  );
});

test.each(Object.entries(DOCUMENTS))(
  'the published schema of %s is current (else: npm run docs)',
  (name, document) => {
    expect(readFileSync(join(DIRECTORY, `${name}.json`), 'utf8')).toBe(describeDocument(document));
  },
);
