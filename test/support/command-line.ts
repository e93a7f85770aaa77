// What run-cli.ts and the process that it keeps say to each other.

export interface CommandLine {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** No command prints a NUL. */
export const END_OF_OUTPUT = '\0';
