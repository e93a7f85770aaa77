// A record of a list that was read by its form, and so is checked: its values are where its row has them.

import { parseJson } from '../contract/parse-json.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import type { CheckedRecord } from './rows-of-record.ts';

/** No JSON value has it. */
const SOURCE = Symbol('source');

export interface PlainRecord {
  readonly id: string;
  /** In the order of the table's columns, without those of nested records; undefined where there is no such field. */
  readonly values: unknown[];
  /** Fields that the contract does not know; null where there are none. */
  readonly extra: Readonly<Record<string, unknown>> | null;
  /** In the order of its kind's nestings; undefined where there is no such field. */
  readonly nested: readonly unknown[];
  /** The record from which its form was learned: it has the same fields. */
  readonly sample: CheckedRecord;
}

/** Returns the record that the text, which is JSON, was read as. */
export function makePlainRecord(record: PlainRecord, text: string): PlainRecord {
  const { id, values, extra, nested, sample } = record;
  return { id, values, extra, nested, sample, [SOURCE]: text } as PlainRecord;
}

export function isPlainRecord(value: unknown): value is PlainRecord {
  return typeof value === 'object' && value !== null && SOURCE in value;
}

/** Returns the record in the contract's spelling as JSON.parse reads it; any other value as it is. */
export function parsedRecord(record: unknown): unknown {
  if (!isPlainRecord(record)) return record;
  return toContractSpelling(parseJson((record as unknown as { [SOURCE]: string })[SOURCE]));
}
