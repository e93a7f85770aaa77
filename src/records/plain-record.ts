// A record of a list that was read by its form, and so is checked: it is known where its values are in its page.

import { parseAt } from '../contract/json-bytes.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import type { CheckedRecord } from './rows-of-record.ts';
import type { Spans } from './spans.ts';

/** No JSON value has it: where the record begins. */
const START = Symbol('start');

export interface PlainRecord {
  readonly id: string;
  readonly spans: Spans;
  /** In the order of the table's columns, what is not in the spans, without nested records; else undefined. */
  readonly values: unknown[];
  /** Fields that the contract does not know; null where there are none. */
  readonly extra: Readonly<Record<string, unknown>> | null;
  /** In the order of its kind's nestings; undefined where there is no such field. */
  readonly nested: readonly unknown[];
  /** The record from which its form was learned: it has the same fields. */
  readonly sample: CheckedRecord;
}

/** Returns the record that begins at the place of its page. */
export function makePlainRecord(record: PlainRecord, start: number): PlainRecord {
  const { id, spans, values, extra, nested, sample } = record;
  return { id, spans, values, extra, nested, sample, [START]: start } as PlainRecord;
}

export function isPlainRecord(value: unknown): value is PlainRecord {
  return typeof value === 'object' && value !== null && START in value;
}

/** Returns the record in the contract's spelling as JSON.parse reads it; any other value as it is. */
export function parsedRecord(record: unknown): unknown {
  if (!isPlainRecord(record)) return record;
  const start = (record as unknown as { [START]: number })[START];
  return toContractSpelling(parseAt(record.spans.bytes, start)?.value);
}
