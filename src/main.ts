#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=100
// Where the process starts: checks that this Node is new enough, then passes the command line and the environment on.
// It has no static import, so that an old Node prints a message instead of a syntax error.
// The flags above make V8 collect garbage sooner, young and old. V8 is to be given flags before it starts, so what
// starts this file has to name them. Old garbage is collected when the heap has grown by its own size since the last
// time: a sync of 100,000 referrals takes 185 MB then, and 4 % less CPU time than with 174 MB at 75 per cent; one of
// 1,000,000 referrals 201 MB instead of 196. At 150 per cent that one takes 227 MB, and 265 without the flag. The flag
// for young garbage made it 50 MB less, and no slower.

const OLDEST_NODE = 24;

// Node opens a debugger at this signal unless it is listened to, and every user of the machine could read the secret
// through that. `--disable-sigusr1` does the same, but every start of Node would have to name it, and an older Node
// refuses it.
process.on('SIGUSR1', () => {});

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `affiliate-mirror needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}. ` +
      'Install one from https://nodejs.org. A checkout of the project brings its own: start it with "npx affiliate-mirror …".\n',
  );
  process.exitCode = 2;
} else {
  // Compiled code is kept beside the code, where only those who may change the code can write. Halves the start-up.
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/affiliate-mirror`);
  const { runCli } = await import('./cli/run-cli.ts');
  process.exitCode = await runCli(process.argv.slice(2), process.env);
}
