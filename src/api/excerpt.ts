// Shortens a text from outside to what fits into one line of a message.

/** Enough to tell a login page from a proxy's error. */
const EXCERPT_LENGTH = 160;

/** Returns the beginning of a text on one line, without characters that could control a terminal. */
export function excerpt(text: string): string {
  // Cut before cleaning too: the body of an error may be megabytes, and only its beginning is shown.
  const clean = text
    .slice(0, EXCERPT_LENGTH * 10)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return clean.length > EXCERPT_LENGTH ? `${clean.slice(0, EXCERPT_LENGTH)}…` : clean;
}
