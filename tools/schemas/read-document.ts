// Reads what a command printed for programs, against its published schema.

import { expect } from 'vitest';
import type { z } from 'zod';
import { DOCUMENTS } from './documents.ts';

/** Returns the document that was printed; it has no field that its schema does not describe, and lacks none. */
// biome-ignore lint/suspicious/noExplicitAny: what it holds is what the tests are about
export function readDocument(name: string, stdout: string): any {
  return readAs(DOCUMENTS[name], stdout);
}

/** Returns the document, of a shape that is not published under a name: amounts in another unit. */
// biome-ignore lint/suspicious/noExplicitAny: what it holds is what the tests are about
export function readAs(shape: z.ZodType | undefined, stdout: string): any {
  const document = JSON.parse(stdout);
  // A field that the schema does not know is dropped in reading.
  expect(shape?.parse(document)).toEqual(document);
  return document;
}
