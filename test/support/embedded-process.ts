// A process that uses the embedded Postgres as a command does: opens it, says so, and on a signal queries it once more
// before it leaves. Run as `node embedded-process.ts DATA_DIR`; it prints one JSON line per step.

import pg from 'pg';
import { describeError } from '../../src/base/describe-error.ts';
import { EmbeddedPostgresFailed } from '../../src/base/errors.ts';
import { makeLogger } from '../../src/base/log.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';

// With an ordinary end, this is what the process must exit with: nothing else may set it.
const EXIT_CODE = 3;

function say(step: object): void {
  process.stdout.write(`${JSON.stringify(step)}\n`);
}

try {
  const [, , dataDir] = process.argv;
  if (dataDir === undefined) throw new Error('usage: embedded-process.ts DATA_DIR');
  const postgres = await openEmbeddedPostgres({ log: makeLogger('warn') }, { dataDir });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const signalled = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal));
  });
  const staysAwake = setInterval(() => {}, 60_000);
  say({ url: postgres.url, port: postgres.port, isOwner: postgres.isOwner });
  const signal = await signalled;
  const { rows } = await client.query('select 1 as answer');
  await client.end();
  await postgres.stop();
  clearInterval(staysAwake);
  say({ signal, rows });
  process.exitCode = EXIT_CODE;
} catch (error) {
  say({ failed: error instanceof EmbeddedPostgresFailed ? error.message : describeError(error) });
  process.exitCode = 1;
}
