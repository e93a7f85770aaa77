// Schemas from functions that read the text of a variable.

import { z } from 'zod';

/**
 * Returns the schema of a text. `read` returns its value, or calls `refuse` with a message that follows the variable's
 * name.
 */
export function reading<T>(read: (text: string, refuse: (message: string) => never) => T) {
  return z.string().transform((text, context) =>
    read(text, (message) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }),
  );
}

/** Returns null if the text is no address, or its user or password cannot be decoded. */
export function readUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    decodeURIComponent(url.username + url.password);
    return url;
  } catch {
    return null;
  }
}
