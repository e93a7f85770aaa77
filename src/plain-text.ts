// Texts as a terminal may be handed them. Some are other people's, such as the name that an affiliate has chosen: what
// would move the cursor, colour or turn around what is beside it could hide a row or show another amount there.

/** Controls, and the marks that turn the direction of writing. Source: Unicode, UAX 9, 2. */
const UNSEEN = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** Returns the text with a blank for each tab, and a mark for each other character that is obeyed instead of shown. */
export function asPlainText(text: string): string {
  return text.replace(UNSEEN, (character) => SHOWN[character] ?? '\uFFFD');
}

const SHOWN: Readonly<Record<string, string>> = { '\n': '\n', '\t': ' ' };
