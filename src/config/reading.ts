// How a schema reads the text of a variable, or says what is wrong with it.

import { z } from 'zod';

/**
 * Returns the schema of a text: `read` returns what it means, or what `refuse` returns, given a message that follows
 * the variable's name.
 */
export function reading<T>(read: (text: string, refuse: (message: string) => never) => T) {
  return z.string().transform((text, context) =>
    read(text, (message) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }),
  );
}

/** Returns the address; null where it is none, or its user or password cannot be decoded. */
export function readUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    decodeURIComponent(url.username + url.password);
    return url;
  } catch {
    return null;
  }
}
