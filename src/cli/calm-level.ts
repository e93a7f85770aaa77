// How much the log says where a person is told in words, or by a bar, what happens.

/** Gives back the level for such a command: warnings only, unless more or less was asked for. */
export function calmLevel(logLevel: string): string {
  return logLevel === 'info' ? 'warn' : logLevel;
}
