// The command group `deletions`: what a sync held back instead of marking it deleted, and how to accept that it is
// gone.

import { Argument, type Command } from 'commander';
import { counted, formatTimestamp } from '../../contract/format.ts';
import { LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import { checkSchema } from '../../db/check-schema.ts';
import type { Database } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { makeLogger } from '../../log.ts';
import { acceptHeldBack } from '../../mirror/held-back.ts';
import type { Reader } from '../../reports/figure.ts';
import { type HeldBackRow, readHeldBack } from '../../reports/read-held-back.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig } from '../configuration.ts';
import type { AcceptedDocument, HeldBackDocument } from '../documents/deletions.ts';
import type { Lifetime } from '../lifetime.ts';
import { nameUser } from '../name-user.ts';
import { openDatabase, type Stopping } from '../open-database.ts';
import { print, printJson } from '../output/print.ts';
import { renderColumns } from '../output/render-table.ts';

const HELP = `
A row that a full sync does not meet is marked deleted once it was looked for again. Where more than 10 rows and more
than 2 % of a table are missing at once, they are held back: the program is more likely to be wrong than right. The run
ends as partial, and "affiliate-mirror status" says so until they are back, or accepted and marked.

Examples:
  $ affiliate-mirror deletions list referrals
  $ affiliate-mirror deletions accept referrals`;

const ACCEPT_HELP = `
Accepts the rows that are held back now, and no others. Nothing is marked yet: a running worker begins a full sync within
a minute, which looks for them once more and marks those that are still missing. Without a worker, run
"affiliate-mirror sync".`;

export function registerDeletions(root: Command, cli: Cli): void {
  const group = root
    .command('deletions')
    .description('see which deletions a sync held back, and accept them')
    .addHelpText('after', HELP);
  group
    .command('list')
    .description('show the rows that are missing in the program and not marked deleted')
    .addArgument(
      new Argument('[resource]', 'of which resource; of all where left out').choices(LISTED_RESOURCES),
    )
    .option('--json', 'print them as one JSON document')
    .action((resource: ListedResource | undefined, { json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const { rows } = await readHeldBack(
          await open(cli, lifetime, { endsAtOnce: true }),
          resource ? [resource] : LISTED_RESOURCES,
        );
        if (json === true) printJson({ held_back: rows } satisfies HeldBackDocument);
        else if (rows.length === 0) print('no deletions are held back');
        else print(renderHeldBack(rows));
        return 0;
      }),
    );
  group
    .command('accept')
    .description('have the next full sync mark the held-back rows of a resource that are still missing')
    .addArgument(new Argument('<resource>', 'of which resource').choices(LISTED_RESOURCES))
    .option('--json', 'print the result as one JSON document')
    .addHelpText('after', ACCEPT_HELP)
    .action((resource: ListedResource, { json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const { db } = await open(cli, lifetime);
        const accepted = await accept(db, resource);
        if (json === true) printJson({ resource, accepted } satisfies AcceptedDocument);
        else print(describeAccepted(resource, accepted));
        return 0;
      }),
    );
}

async function open(cli: Cli, lifetime: Lifetime, stopping?: Stopping): Promise<Reader> {
  const config = readCliConfig(cli);
  const log = makeLogger(config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, 'deletions', stopping);
  await checkSchema(pool, { schema: config.mirrorSchema });
  return { db, mirrorSchema: config.mirrorSchema };
}

async function accept(db: Database, resource: ListedResource): Promise<number> {
  return transact(db, (trx) => acceptHeldBack(trx, { resource, acceptedBy: nameUser() }));
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
    affiliate: ({ affiliate_id }) => affiliate_id,
    created: ({ created_at }) => created_at && formatTimestamp(created_at),
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
