// A text within a shell's command that somebody is shown, or that a shell is to run.

/** Returns the text as one word of the command. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the same, as a person types it: without quotes where it needs none. */
export function asShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteForShell(text);
}
