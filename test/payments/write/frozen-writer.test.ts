// A foreground writer that is stopped (Ctrl-Z, a suspended machine) while others go on: when it wakes, what was asked
// for later is unchanged, and it has sent nothing that was no longer its own to send.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { untilFrozen } from '../../support/freeze-self.ts';
import type { FrozenWriterOptions } from './frozen-writer.ts';
import { PAID_AT, SECRET, useWriter } from './start-writer.ts';

const writer = useWriter({ affiliates: 5, referrals: 300 });
const SCRIPT = fileURLToPath(new URL('frozen-writer.ts', import.meta.url));
const CLAIM_MS = 600;

const running = new Set<ReturnType<typeof spawn>>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

const POINTS = [
  { stopped: 'after it claimed the request', after: 'set claimed_by', time: 1, announces: 0 },
  { stopped: 'before it reads', after: 'take_permit', time: 1, announces: 0 },
  { stopped: 'after it read', after: 'return_permit', time: 1, announces: 0 },
  { stopped: 'when its PUT has its permit', after: 'take_permit', time: 2, announces: 0 },
  { stopped: 'when its PUT is announced', after: 'still_ours', time: 1, announces: 1 },
];

test.each(POINTS)(
  'stopped $stopped, a writer overwrites nothing when it wakes',
  async ({ after, time, announces }) => {
    const { fresh, ask, drain, program, database, sandbox, attempts } = writer();
    const { id } = await fresh();
    const [pay] = await ask({ commission_id: id, action: 'pay', paid_at: PAID_AT });
    const options: FrozenWriterOptions = {
      databaseUrl: database.url,
      apiUrl: sandbox.url,
      secret: SECRET,
      ids: [pay?.id ?? 0],
      claimMs: CLAIM_MS,
      freeze: { after, time },
    };
    const child = spawn(process.execPath, [SCRIPT, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.add(child);
    const ended = once(child, 'exit');
    const printed = text(child.stdout);
    await untilFrozen(child.pid ?? 0);
    expect(await program(id)).toMatchObject({ paid_at: null });

    // Others apply its request once its claim has run out, and then a later one.
    const [unpay] = await ask({ commission_id: id, action: 'unpay' });
    await expect
      .poll(async () => {
        await drain();
        const { rows } = await database.pool.query(
          'select state from mirror.commission_updates where id = any($1)',
          [[pay?.id, unpay?.id]],
        );
        return rows.map(({ state }) => state);
      })
      .toEqual(['applied', 'applied']);
    const putsBefore = sandbox.requests.filter(
      ({ method, url }) => method === 'PUT' && url.includes(id),
    ).length;

    child.kill('SIGCONT');
    expect(await ended).toEqual([0, null]);
    running.delete(child);
    expect(JSON.parse(await printed)).toEqual({ applied: 1 });

    const puts = sandbox.requests.filter(({ method, url }) => method === 'PUT' && url.includes(id));
    expect(puts).toHaveLength(putsBefore);
    expect(await program(id)).toMatchObject({ paid_at: null });
    const unsent = (await attempts(pay?.id)).filter(({ error }) => error?.startsWith('not sent'));
    expect(unsent).toHaveLength(announces);
  },
);
