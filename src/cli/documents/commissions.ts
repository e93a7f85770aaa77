// The documents of the commands that ask for payments with --json, and of those that say what became of them.

import { z } from 'zod';
import type { AmountUnit } from '../../config/amount-unit.ts';
import { ACTIONS, END_STATES } from '../../contract/payment-request.ts';
import { count, stateCounts, text, timestamp, updateState } from '../../reports/fields.ts';
import { batch } from '../../reports/read-batches.ts';
import { paymentLine } from '../../reports/read-payment-ledger.ts';
import { amount, inUnit, sum, UNIT_OF_AMOUNTS } from './amounts.ts';

const commissionId = text('identifier of the commission');
const currency = text('its currency').nullable();

const would = z
  .enum(['change', 'asked_before', ...END_STATES])
  .describe(
    'change: a change would be sent; asked_before: nothing would be queued; else the state it ends in',
  );

/** A row of a dry run, as JSON and CSV have it. */
export const previewRow = z.object({
  line: count('its line in the file; null where it comes from none').nullable(),
  commission_id: commissionId,
  action: z.enum(ACTIONS),
  would,
  outcome: text('what would become of it'),
  note: text('what else to know about that').nullable(),
  paid_at: timestamp('when the program has it as paid').nullable(),
  due_at: timestamp('from when the program has it as payable').nullable(),
  amount: amount('what the program has it as worth').nullable(),
  currency,
});

export type PreviewRow = z.infer<typeof previewRow>;

/** What requests of a state come to. */
export const stateTotal = z.object({
  currency: text('null: of commissions whose currency is not known').nullable(),
  action: z.enum(ACTIONS).describe('what they do: amounts of different actions do not add up'),
  requests: count('how many; one commission may have several'),
  amount: sum('what their commissions are worth together; null where the currency is').nullable(),
});

/** Returns the shape of a dry run, whose amounts count in the unit. */
export const dryRunDocument = (unit: AmountUnit) =>
  z
    .object({
      dry_run: z.literal(true).describe('nothing was queued or changed'),
      totals: z
        .array(inUnit(z.object({ would, ...stateTotal.shape }), ['amount'], unit))
        .describe('by currency and action, and what would become of them'),
      rows: z.array(inUnit(previewRow, ['amount'], unit)).describe('as they were asked for'),
    })
    .meta({
      title: 'affiliate-mirror commissions apply, pay, unpay or due --dry-run --json',
      description: UNIT_OF_AMOUNTS,
    });

export type DryRunDocument = z.infer<ReturnType<typeof dryRunDocument>>;

const requestsShapes = (unit: AmountUnit) => {
  const asked = {
    batch: text('name of the batch of those that are new; where all were asked for before, no batch has it'),
    requests: z
      .array(inUnit(paymentLine, ['amount'], unit).meta({ id: 'request' }))
      .describe('by number; also those that were asked for before'),
  };
  const counts = stateCounts.describe('how many requests are in each state');
  return {
    queued: z
      .object({ ...asked, queued: count('requests that are new') })
      .meta({ title: 'affiliate-mirror commissions apply, pay, unpay or due --json' }),
    waited: z
      .object({
        ...asked,
        counts,
        totals: z
          .array(inUnit(z.object({ state: updateState, ...stateTotal.shape }), ['amount'], unit))
          .describe('by currency, action and state'),
      })
      .meta({ title: 'affiliate-mirror commissions apply, pay, unpay or due --wait --json' }),
    selected: z
      .object({ counts, requests: asked.requests.describe('by number') })
      .meta({ title: 'affiliate-mirror commissions status WHAT --json' }),
  };
};

/** Returns the shape of requests that were queued, ended, or were looked for; their amounts count in the unit. */
export function requestsDocument(unit: AmountUnit) {
  const { queued, waited, selected } = requestsShapes(unit);
  return z
    .union([queued, waited, selected])
    .meta({ title: 'requests for payments, and what became of them', description: UNIT_OF_AMOUNTS });
}

type RequestsShapes = ReturnType<typeof requestsShapes>;
export type QueuedDocument = z.infer<RequestsShapes['queued']>;
export type WaitedDocument = z.infer<RequestsShapes['waited']>;
export type SelectedDocument = z.infer<RequestsShapes['selected']>;

export const batchesDocument = z
  .object({ batches: z.array(batch).readonly().describe('the last ones, newest first') })
  .meta({ title: 'affiliate-mirror commissions status --json' });

export type BatchesDocument = z.infer<typeof batchesDocument>;

export const revisedDocument = z
  .object({
    requests: z
      .array(z.int())
      .readonly()
      .describe('numbers of the requests that will be tried again, or were cancelled'),
    left: z
      .array(z.object({ id: count('number of the request'), reason: text('why') }))
      .readonly()
      .describe('requests that were left alone'),
  })
  .meta({ title: 'affiliate-mirror commissions retry or cancel --json' });

export type RevisedDocument = z.infer<typeof revisedDocument>;

export const trackedDocument = z
  .object({
    commissions: count('commissions that were named'),
    added: count('those of them that were not tracked before'),
    resumed: count('those of them that had been gone from the program, and will be asked for again'),
  })
  .meta({ title: 'affiliate-mirror commissions track --json' });

export type TrackedDocument = z.infer<typeof trackedDocument>;
