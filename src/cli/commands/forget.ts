// The command `forget`: takes one person's data out of the mirror, and prints the receipt.

import { Argument, type Command } from 'commander';
import { counted, formatTimestamp } from '../../contract/format.ts';
import { type Forgetting, forgetPerson } from '../../personal-data/forget-person.ts';
import { vacuum } from '../../personal-data/rewriting.ts';
import type { Cli } from '../cli.ts';
import type { ReceiptDocument } from '../documents/personal-data.ts';
import { nameUser } from '../name-user.ts';
import { print, printJson } from '../output/print.ts';
import { describeRewritten, openRewriting, rewrite, rewrittenRows } from '../rewriting.ts';

const HELP = `
Empties what is personal of the person in every table and in the history, and keeps it out at later syncs. Commissions,
sales and the payment ledger stay, with their identifiers and amounts. Safe to run again: it finds nothing left then, and
says so under the same number. Run it as the owner of the tables. Nothing is changed in the program: have the person
deleted there too. The receipt names nobody.

An e-mail address finds affiliates by their address and the one that waits to be confirmed, and referrals by their
customer's; the identifier of a customer, all referrals of that customer. Where PII=omit, the mirror has no addresses:
give the identifiers of the records and of the customer.

Examples:
  $ affiliate-mirror forget jane@example.com --json > receipt.json
  $ affiliate-mirror forget 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11
  $ affiliate-mirror forget cus_Nffrze3uQqUd7u`;

export function registerForget(root: Command, cli: Cli): void {
  root
    .command('forget')
    .description("take one person's data out of the mirror for good")
    .addArgument(
      new Argument(
        '<who>',
        'e-mail address, or identifier of an affiliate, a referral or a customer',
      ).argRequired(),
    )
    .option('--json', 'print the receipt as one JSON document')
    .addHelpText('after', HELP)
    .action((who: string, { json }: { json?: true }) =>
      cli.run(async (lifetime) => {
        const { db, settings } = await openRewriting(cli, lifetime, 'forget');
        const forgetting = await rewrite(lifetime, async () => {
          const forgotten = await forgetPerson(db, settings, { who, by: nameUser() });
          // Of all, since an earlier one may have been stopped before it.
          await vacuum(db);
          return forgotten;
        });
        const receipt = makeReceipt(forgetting);
        if (json === true) printJson(receipt);
        else for (const line of describe(receipt)) print(line);
        return 0;
      }),
    );
}

const NOBODY =
  'nobody in the mirror has this address, which is kept out from now on: if it is misspelt, the person is still there';

function makeReceipt({
  number,
  forgottenAt,
  doneAt,
  records,
  addresses,
  counts,
  kept,
}: Forgetting): ReceiptDocument {
  return {
    number,
    is_found: records.affiliates + records.referrals + records.links + counts.size + kept.length > 0,
    forgotten_at: forgottenAt,
    done_at: doneAt,
    kept_out: { ...records, addresses },
    rewritten: rewrittenRows(counts),
    not_rewritten: kept,
  };
}

function describe(receipt: ReceiptDocument): string[] {
  const { number, forgotten_at, done_at, kept_out, rewritten, not_rewritten, is_found } = receipt;
  const { affiliates, referrals, links, addresses } = kept_out;
  return [
    ...(is_found ? [] : [NOBODY]),
    `person ${number}, forgotten since ${formatTimestamp(forgotten_at)}; done at ${formatTimestamp(done_at)}`,
    `kept out from now on: affiliates ${affiliates}, referrals ${referrals}, links ${links}, addresses ${addresses}`,
    rewritten.length === 0 ? `rewritten: nothing${is_found ? ', since nothing was left' : ''}` : 'rewritten:',
    ...describeRewritten(rewritten),
    ...not_rewritten.map(
      ({ table, column, rows }) =>
        `not rewritten: ${table}.${column}, where the person is still named in ${counted(rows, 'row')}`,
    ),
  ];
}
