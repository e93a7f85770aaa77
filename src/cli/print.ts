// The two streams of the command line: data on stdout, everything else on stderr.

/** Writes a line of data to stdout. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Writes a line for the person at the terminal to stderr. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes one JSON document to stdout. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}
