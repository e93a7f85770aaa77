// The documents of payment requests and their outcomes, with --json. Their amounts are whole numbers, under names that
// say their unit.

import { z } from 'zod';
import type { AmountUnit } from '../../contract/money.ts';
import { ACTIONS, END_STATES } from '../../contract/payment-request.ts';
import { count, stateCounts, text, timestamp, updateState } from '../../reports/fields.ts';
import { batch } from '../../reports/read-batches.ts';
import { paymentLine } from '../../reports/read-payment-ledger.ts';

/** A published schema has the names of the default unit. */
export const UNIT_OF_AMOUNTS =
  'Amounts are whole numbers in the unit that their names end in: _minor, or with AFFILIATE_AMOUNT_UNIT=cent or =major instead _cent or _major. Nothing else depends on it.';

export const amount = (meaning: string) => z.int().describe(meaning);

/** A bigint here, and in JSON a number that may be beyond those of JavaScript. */
export const sum = (meaning: string) =>
  z
    .number()
    .refine(Number.isInteger)
    .meta({ type: 'integer', description: meaning }) as unknown as z.ZodType<bigint>;

/** Returns the shape with the amounts named as they are printed. */
export function inUnit(shape: z.ZodObject, names: readonly string[], unit: AmountUnit): z.ZodType<object> {
  return z.object(nameAmounts(shape.shape, names, unit));
}

/** Returns the record for programs, its amounts under names that say their unit: amount becomes amount_minor. */
export function nameAmounts<T>(
  record: Readonly<Record<string, T>> | object,
  names: readonly string[],
  unit: AmountUnit,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [names.includes(name) ? `${name}_${unit}` : name, value]),
  );
}

const commissionId = text('identifier of the commission');
const currency = text('its currency').nullable();

const would = z
  .enum(['change', 'asked_before', ...END_STATES])
  .describe(
    'change: a change would be sent; asked_before: nothing would be queued; else the state it ends in',
  );

/** A row of a dry run, as JSON and CSV have it. */
export const previewRow = z.object({
  line: count('its line in the file; null if it comes from no file').nullable(),
  commission_id: commissionId.nullable(),
  payout_id: text('the payout to be paid; of a commission null').nullable(),
  action: z.enum(ACTIONS),
  would,
  outcome: text('what would become of it'),
  note: text('what else to know about that').nullable(),
  paid_at: timestamp('when the API has it as paid').nullable(),
  due_at: timestamp('from when the API has it as payable').nullable(),
  amount: amount('its amount in the API').nullable(),
  currency,
  affiliate_name: text('name of the affiliate, as far as the mirror has it').nullable(),
});

/** A request that answers a row, as JSON and CSV have it. */
export const askedLine = z.object({
  line: count('the line of its row in the file; null if it comes from no file').nullable(),
  ...paymentLine.shape,
  ended_before: z.boolean().describe('whether it had ended before this command: nothing is sent for it'),
  overtaken_by: count('a later request for the same value of the commission').nullable(),
});

export const stateTotal = z.object({
  currency: text('null: of commissions whose currency is not known').nullable(),
  action: z.enum(ACTIONS).describe('what they do: amounts of different actions do not add up'),
  requests: count('how many; one commission may have several'),
  amount: sum('what their commissions are worth together; null if the currency is').nullable(),
});

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
    batch: text('name of the batch of those that are new; if all were asked for before, no batch has it'),
    requests: z
      .array(inUnit(askedLine, ['amount'], unit).meta({ id: 'answer' }))
      .describe('as they were asked for; also those that were asked for before'),
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
        sent_now: count('requests whose change was sent by this command, or meanwhile'),
        totals: z
          .array(inUnit(z.object({ state: updateState, ...stateTotal.shape }), ['amount'], unit))
          .describe('by currency, action and state'),
      })
      .meta({ title: 'affiliate-mirror commissions apply, pay, unpay or due --wait --json' }),
    selected: z
      .object({
        counts,
        requests: z
          .array(inUnit(paymentLine, ['amount'], unit).meta({ id: 'request' }))
          .describe('by number'),
      })
      .meta({ title: 'affiliate-mirror commissions status WHAT --json' }),
  };
};

/** Returns the shape of requests that were queued, awaited or selected. */
export function requestsDocument(unit: AmountUnit) {
  const { queued, waited, selected } = requestsShapes(unit);
  return z
    .union([queued, waited, selected])
    .meta({ title: 'payment requests and their outcomes', description: UNIT_OF_AMOUNTS });
}

type RequestsShapes = ReturnType<typeof requestsShapes>;
export type QueuedDocument = z.infer<RequestsShapes['queued']>;
export type WaitedDocument = z.infer<RequestsShapes['waited']>;
export type SelectedDocument = z.infer<RequestsShapes['selected']>;

export const batchesDocument = z
  .object({ batches: z.array(batch).readonly().describe('the last ones, newest first') })
  .meta({ title: 'affiliate-mirror commissions status --json' });

export type BatchesDocument = z.infer<typeof batchesDocument>;
