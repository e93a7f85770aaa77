// A process that runs one command line after the other, each as main.ts would, and ends what each printed with a mark.
// Started by run-cli.ts.

import { runCli } from '../../src/cli/run-cli.ts';
import { type CommandLine, END_OF_OUTPUT } from './command-line.ts';

// Each command listens for a reader that goes away; so many in one process are no leak.
process.stdout.setMaxListeners(0);

process.on('message', async ({ args, environment }: CommandLine) => {
  const code = await runCli(args, environment);
  process.stdout.write(END_OF_OUTPUT);
  process.stderr.write(END_OF_OUTPUT);
  process.send?.(code);
});

// Whoever started it has ended.
process.on('disconnect', () => process.exit());
