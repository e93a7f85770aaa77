// A text within a shell's command that somebody is shown, or that a shell is to run.

/** Returns the text as one word of the command. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
