// The command group `deletions`: lists the deletions that a sync held back, and accepts them.

import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { counted, formatTimestamp } from '../../contract/format.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import { transact } from '../../db/transact.ts';
import { acceptHeldBack } from '../../mirror/held-back.ts';
import { type HeldBackRow, heldBack, readHeldBack } from '../../reports/read-held-back.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { nameUser } from '../name-user.ts';
import { print, printJson } from '../output/print.ts';
import { renderColumns } from '../output/render-table.ts';
import { openMirror, startOf } from '../program.ts';

const HELP = `
A row that a full sync does not meet is asked for once more, and then marked deleted. If more than 10 rows and more than
2 % of a table are missing at once, they are held back: the API is more likely to be wrong than right. The run ends as
partial, and "affiliate-mirror status" says so until they are back, or accepted and marked.

Examples:
  $ affiliate-mirror deletions list referrals
  $ affiliate-mirror deletions accept referrals`;

const ACCEPT_HELP = `
Accepts the rows that are held back now, and no others. A running worker begins a full sync within a minute, which asks
for them once more and marks those that are still missing. Without a worker, run "affiliate-mirror sync".`;

const heldBackDocument = z
  .object({ held_back: z.array(heldBack).readonly().describe('rows that look deleted and are not marked') })
  .meta({ title: 'affiliate-mirror deletions list --json' });

export const command: CommandFile = {
  register,
  connections: { pool: 2 },
  documents: { 'deletions-list': heldBackDocument },
};

function register(root: Command, cli: Cli): void {
  const group = root
    .command('deletions')
    .description('see which deletions a sync held back, and accept them')
    .addHelpText('after', HELP);
  group
    .command('list')
    .description('show the rows that are missing in the API and not marked deleted')
    .addArgument(
      new Argument('[resource]', 'of which resource; without it, of all').choices(LISTED_RESOURCES),
    )
    .option('--json', 'print them as one JSON document')
    .action((resource: ListedResource | undefined, { json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const { rows } = await readHeldBack(
          await openMirror(cli, lifetime, { endsAtOnce: true }),
          resource ? [resource] : LISTED_RESOURCES,
        );
        if (json === true) printJson({ held_back: rows } satisfies z.infer<typeof heldBackDocument>);
        else if (rows.length === 0) print('no deletions are held back');
        else print(renderHeldBack(rows));
        return 0;
      }),
    );
  group
    .command('accept')
    .description('have the next full sync mark the held-back rows of a resource that are still missing')
    .addArgument(new Argument('<resource>', 'of which resource').choices(LISTED_RESOURCES))
    .addHelpText('after', ACCEPT_HELP)
    .action((resource: ListedResource) =>
      cli.run(async (lifetime) => {
        const program = await openMirror(cli, lifetime);
        const accepted = await transact(program.db, (trx) =>
          acceptHeldBack(trx, { resource, acceptedBy: nameUser() }),
        );
        print(`${startOf(program)}${describeAccepted(resource, accepted)}`);
        return 0;
      }),
    );
}

function renderHeldBack(rows: readonly HeldBackRow[]): string {
  const open = LISTED_RESOURCES.filter((resource) =>
    rows.some((row) => row.resource === resource && row.accepted_at === null),
  );
  const next = open.map(
    (resource) => `if they are really gone: affiliate-mirror deletions accept ${resource}`,
  );
  const table = renderColumns(rows, {
    resource: ({ resource }) => resource,
    id: ({ record_id }) => record_id,
    'name or address': ({ name, email }) => name ?? email,
    affiliate: ({ affiliate_name, affiliate_id }) => affiliate_name ?? affiliate_id,
    created: ({ created_at }) => created_at && formatTimestamp(created_at),
    'last changed': ({ changed_at }) => changed_at && formatTimestamp(changed_at),
    run: ({ run_id }) => String(run_id),
    'held back since': ({ held_back_at }) => formatTimestamp(held_back_at),
    accepted: ({ accepted_at }) => accepted_at && formatTimestamp(accepted_at),
  });
  return [table, ...next].join('\n');
}

function describeAccepted(resource: ListedResource, accepted: number): string {
  if (accepted === 0) return `no deletions of ${resource} are held back: nothing was accepted`;
  return (
    `${counted(accepted, 'deletion')} of ${resource} ${accepted === 1 ? 'is' : 'are'} accepted. A running worker looks ` +
    'once more within a minute, and marks what is still missing; without a worker, run "affiliate-mirror sync"'
  );
}
