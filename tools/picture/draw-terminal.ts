// The second part of `npm run picture`: runs the commands in a real terminal of two sizes, against a made-up program,
// and draws what it shows at the moments that a person looks at, as docs/images/terminal/NAME-COLUMNSxROWS.svg. The
// program is always the same; the time of day, how long something took and the embedded Postgres' port are not.

import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { makeLogger } from '../../src/base/log.ts';
import { SANDBOX_SECRET } from '../../src/cli/commands/sandbox.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { makeDataDir, removeDataDir } from '../../test/support/embedded-directories.ts';
import { openTerminal, type Size, type TerminalSession } from '../../test/support/terminal.ts';
import { drawScreen } from './draw-screen.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PICTURES = fileURLToPath(new URL('../../docs/images/terminal/', import.meta.url));
const SIZES: readonly Size[] = [
  { columns: 80, rows: 24 },
  { columns: 200, rows: 50 },
];
/** The sandbox' own, so that the pictures show the same one every time. */
const PROGRAM_URL = 'http://127.0.0.1:4010';
/** A tenth of the usual window: it is used up within seconds, and waiting for it does not take long. */
const TIGHT_LIMIT = '30/20';

await mkdir(PICTURES, { recursive: true });
for (const size of SIZES) {
  const directory = await makeDataDir();
  const sessions: TerminalSession[] = [];
  try {
    await writeFile(
      join(directory, 'affiliate-mirror'),
      `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const environment = {
      PATH: [directory, process.env['PATH']].join(delimiter),
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      AFFILIATE_API_URL: PROGRAM_URL,
      AFFILIATE_API_SECRET: SANDBOX_SECRET,
    };
    const open = (commands: readonly string[], more: Readonly<Record<string, string>> = {}) => {
      const shown = commands.map((command) => `printf '$ %s\\n' '${command}'; ${command}`).join('; echo; ');
      const session = openTerminal(shown, { size, environment: { ...environment, ...more }, cwd: directory });
      sessions.push(session);
      return session;
    };
    await drawAll(open, { size, directory });
  } finally {
    for (const session of sessions) session.kill();
    await Promise.all(sessions.map(({ ended }) => ended));
    await removeDataDir(directory);
  }
}

type Open = (commands: readonly string[], more?: Readonly<Record<string, string>>) => TerminalSession;

async function drawAll(open: Open, { size, directory }: { size: Size; directory: string }): Promise<void> {
  const draw = (name: string, title: string, { emulator }: TerminalSession) =>
    writeFile(join(PICTURES, `${name}-${size.columns}x${size.rows}.svg`), drawScreen(title, emulator));
  const drawEnd = async (name: string, title: string, commands: readonly string[]) => {
    const session = open(commands, { API_RATE_LIMIT: 'none' });
    await session.ended;
    await draw(name, title, session);
  };

  const sandbox = open(['affiliate-mirror sandbox --optional-lists']);
  await sandbox.untilShown(/Ctrl-C stops it/);

  const sync = open(['affiliate-mirror sync --migrate'], { API_RATE_LIMIT: TIGHT_LIMIT });
  await sync.untilShown(/referrals \d+%/);
  await draw('sync-progress', 'A sync shows the time that is left and how far it has come', sync);
  await sync.untilShown(/waiting for the request budget, \d+ s/);
  await draw('sync-waiting', 'A sync waits for the request budget, and says for how long', sync);
  sync.type('\u0003');
  await sync.ended;
  await draw('sync-stopped', 'Ctrl-C: how far it came, and that the next sync goes on there', sync);

  await drawEnd('sync-result', 'What a sync did, in a table', ['affiliate-mirror sync']);
  await drawEnd('status', 'The mirror, at a glance', ['affiliate-mirror status']);
  await writeFile(join(directory, 'payouts.csv'), await makePayouts());
  const apply = 'affiliate-mirror commissions apply payouts.csv';
  await drawEnd('payment-dry-run', 'What a payout file would do', [`${apply} --dry-run`]);
  await drawEnd('payment-result', 'What became of each payment', [`${apply} --wait`]);
  const usage = ['affiliate-mirror sync --mode everything', 'affiliate-mirror commissions aply payouts.csv'];
  await drawEnd('wrong-usage', 'What is wrong, and which help to read', usage);
  await loseReferrals(directory);
  await open(['affiliate-mirror sync referrals'], { API_RATE_LIMIT: 'none' }).ended;
  const deletions = ['affiliate-mirror status', 'affiliate-mirror deletions accept referrals'];
  await drawEnd('deletions', 'Deletions that were held back, and what to do', deletions);
  await drawEnd('doctor', 'Each thing that a sync needs, checked', ['affiliate-mirror doctor']);

  sandbox.type('\u0003');
  await sandbox.ended;
}

/** Has the program lose so many referrals at once that a sync asks first. */
async function loseReferrals(directory: string): Promise<void> {
  const dataDir = join(directory, '.affiliate-mirror');
  const { url, stop } = await openEmbeddedPostgres({ log: makeLogger('warn') }, { dataDir });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`delete from sandbox.referrals where id in (
    select id from sandbox.referrals order by created_at desc, id offset 50 limit 700)`);
  await client.end();
  await stop();
}

/** Returns a payout file: three commissions to be paid, and one that is paid already, which it does not expect. */
async function makePayouts(): Promise<string> {
  const commissions = (await Promise.all([18, 20, 22].map(readPage))).flat();
  const due = commissions.filter(({ state }) => state === 'due').slice(0, 3);
  const paid = commissions.filter(({ state }) => state === 'paid').slice(0, 1);
  if (due.length < 3 || paid.length < 1)
    throw new Error('the affiliate program has no such commissions: read other pages');
  const rows = [...due, ...paid].map(({ id }) => `${id},pay,2026-10-01T12:00:00Z,unpaid`);
  return ['commission_id,action,paid_at,expected_paid_at', ...rows, ''].join('\n');
}

/** Returns a page of the commissions, the newest of which are on the first one. */
async function readPage(page: number): Promise<{ readonly id: string; readonly state: string }[]> {
  const answer = await fetch(`${PROGRAM_URL}/v1/commissions?limit=100&page=${page}`, {
    headers: { authorization: `Basic ${Buffer.from(`${SANDBOX_SECRET}:`).toString('base64')}` },
  });
  return ((await answer.json()) as { data: { id: string; state: string }[] }).data;
}
