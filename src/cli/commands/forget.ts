// The command `forget`: takes one person's data out of the mirror, and prints the receipt.

import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { counted, formatTimestamp } from '../../contract/format.ts';
import { type Forgetting, forgetPerson } from '../../mirror/people/forget-person.ts';
import { vacuum } from '../../mirror/people/rewriting.ts';
import { count, text, timestamp, yesNo } from '../../reports/fields.ts';
import type { Cli, CommandFile } from '../cli.ts';
import { nameUser } from '../name-user.ts';
import { print, printJson } from '../output/print.ts';
import { describeRewritten, openRewriting, rewrite, rewritten, rewrittenRows } from '../personal-data.ts';
import { startOf } from '../program.ts';

const HELP = `
Empties what is personal of the person in every table and in the history, and keeps it out at later syncs. Commissions,
sales and the payment ledger stay, with their identifiers and amounts. Safe to run again: it finds nothing left then, and
says so under the same number. Run it as the owner of the tables. Nothing is changed in the affiliate program: have the
person deleted there too. The receipt holds no personal data.

An e-mail address finds affiliates by their address and the one that waits to be confirmed, and referrals by their
customer's; the identifier of a customer, all referrals of that customer. With PII=omit, the mirror has no addresses:
give the identifiers of the records and of the customer.

Examples:
  $ affiliate-mirror forget jane@example.com --json > receipt.json
  $ affiliate-mirror forget 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11
  $ affiliate-mirror forget cus_Nffrze3uQqUd7u`;

const receiptDocument = z
  .object({
    number: count('number of the person in this mirror; the same if the command is run again'),
    is_found: yesNo('the mirror has or had something of the person; false if no record has the address'),
    forgotten_at: timestamp('when the person was forgotten first'),
    done_at: timestamp('when this was done'),
    kept_out: z
      .object({
        affiliates: count('affiliates whose data are no longer stored'),
        referrals: count('referrals whose data are no longer stored'),
        links: count('links whose data are no longer stored'),
        addresses: count(
          'e-mail addresses, and identifiers of customers that were named, that are recognised, in each form in which they are',
        ),
      })
      .describe('what later syncs recognise and store without personal data'),
    rewritten,
    not_rewritten: z
      .array(
        z.object({
          table: text('name of the table'),
          column: text('name of the column'),
          rows: count('rows in which the address or the name still is'),
        }),
      )
      .readonly()
      .describe('who asked for a payment, and what keeps one from being made twice'),
  })
  .meta({ title: 'affiliate-mirror forget --json' });

type ReceiptDocument = z.infer<typeof receiptDocument>;

export const command: CommandFile = {
  register,
  connections: { pool: 2, isWriting: true },
  documents: { forget: receiptDocument },
};

function register(root: Command, cli: Cli): void {
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
        const program = await openRewriting(cli, lifetime);
        const { db, personalData } = program;
        const forgetting = await rewrite(lifetime, async () => {
          const forgotten = await forgetPerson(db, personalData, { who, by: nameUser() });
          // Every table, since an earlier command may have been stopped before this.
          await vacuum(db);
          return forgotten;
        });
        const receipt = makeReceipt(forgetting);
        if (json === true) printJson(receipt);
        else for (const line of describe(receipt, startOf(program))) print(line);
        return 0;
      }),
    );
}

const NOT_FOUND =
  'no record of the mirror has this address, which is kept out from now on: if it is misspelt, the person is still there';

function makeReceipt({
  number,
  forgottenAt,
  doneAt,
  records,
  addresses,
  counts,
  notRewritten,
}: Forgetting): ReceiptDocument {
  return {
    number,
    is_found: records.affiliates + records.referrals + records.links + counts.size + notRewritten.length > 0,
    forgotten_at: forgottenAt,
    done_at: doneAt,
    kept_out: { ...records, addresses },
    rewritten: rewrittenRows(counts),
    not_rewritten: notRewritten,
  };
}

function describe(receipt: ReceiptDocument, start: string): string[] {
  const { number, forgotten_at, done_at, kept_out, rewritten: tables, not_rewritten, is_found } = receipt;
  const { affiliates, referrals, links, addresses } = kept_out;
  return [
    ...(is_found ? [] : [NOT_FOUND]),
    `${start}person ${number}, forgotten since ${formatTimestamp(forgotten_at)}; done at ${formatTimestamp(done_at)}`,
    `kept out from now on: affiliates ${affiliates}, referrals ${referrals}, links ${links}, addresses ${addresses}`,
    tables.length === 0 ? `rewritten: nothing${is_found ? ', since nothing was left' : ''}` : 'rewritten:',
    ...describeRewritten(tables),
    ...not_rewritten.map(
      ({ table, column, rows }) =>
        `not rewritten: ${table}.${column}, where the person is still named in ${counted(rows, 'row')}`,
    ),
  ];
}
