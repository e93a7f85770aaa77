// Every document that has a published schema, by the name of its file in docs/schemas/.

import { z } from 'zod';
import { loadDocuments } from '../../src/cli/run-cli.ts';
import { PROGRAMS_FILE_SCHEMA } from './programs-file.ts';

export const DOCUMENTS: Readonly<Record<string, z.ZodType>> = {
  ...(await loadDocuments()),
  'programs-file': PROGRAMS_FILE_SCHEMA,
};

/** Returns the JSON schema (draft 2020-12) of the document, as text for a file. */
export function describeDocument(document: z.ZodType): string {
  const schema = z.toJSONSchema(document, {
    override: ({ jsonSchema }) => {
      // Of arrays that our code does not change: nothing to those who read the document.
      delete jsonSchema.readOnly;
      // Long, and said by the format.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      // Bounds of the language, not of the figure.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return `${JSON.stringify(schema, null, 2)}\n`;
}
