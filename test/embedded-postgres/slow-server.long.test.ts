// A server of a machine that is so busy that it does not answer for seconds.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { makeLogger } from '../../src/log.ts';
import { useDataDir } from './use-data-dir.ts';

const given = useDataDir();

it('waits for a server that does not answer for eight seconds', async () => {
  const open = () => openEmbeddedPostgres({ log: makeLogger('warn') }, { dataDir: given.dataDir });
  const first = await open();
  const pid = Number.parseInt(await readFile(join(given.home, 'data', 'postmaster.pid'), 'utf8'), 10);
  process.kill(pid, 'SIGSTOP');
  const waking = setTimeout(() => process.kill(pid, 'SIGCONT'), 8_000);
  try {
    const second = await open();
    expect(second).toMatchObject({ isOwner: false, port: first.port });
    await second.stop();
  } finally {
    clearTimeout(waking);
    process.kill(pid, 'SIGCONT');
    await first.stop();
  }
});
