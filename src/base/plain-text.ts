// Makes foreign texts, such as the name of an affiliate, safe for a terminal: characters that move the cursor, colour
// or reverse text could hide a row or show another amount.

/** Controls, and marks that change the direction of writing. Source: Unicode, UAX 9, 2. */
const UNSEEN = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** Replaces tabs by blanks, and other control characters by U+FFFD. */
export function asPlainText(text: string): string {
  return text.replace(UNSEEN, (character) => SHOWN[character] ?? '\uFFFD');
}

const SHOWN: Readonly<Record<string, string>> = { '\n': '\n', '\t': ' ' };
