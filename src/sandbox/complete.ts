// Makes up what a record lacks of the fields that the contract declares, so that a new field needs nothing here. It is
// made of the record's identifier, not of chance: what a seed makes up stays as it is.

import { createHash } from 'node:crypto';
import type { Field } from '../contract/declare.ts';
import { keptColumns, type Rows } from './rows.ts';

/** One of so many values that may be null is. */
const NULL_OF = 4;

/** Returns the row with a value in each column that it lacks. */
export function complete<T extends keyof Rows>(table: T, row: Partial<Rows[T]> & Made): Rows[T] {
  const lacking = keptColumns(table).filter(({ column, isCounted }) => !isCounted && !(column in row));
  const made = lacking.map(({ column, field }) => [column, makeUp(row, column, field)]);
  return { ...row, ...Object.fromEntries(made) } as Rows[T];
}

interface Made {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at?: string;
}

function makeUp({ id, created_at, updated_at = created_at }: Made, column: string, field: Field): unknown {
  const digest = createHash('md5').update(`${id} ${column}`).digest();
  const number = digest.readUInt16BE();
  const mayBeNull = field.presence === 'or null' || field.presence === 'seen in the wild';
  if (mayBeNull && number % NULL_OF === 0) return null;
  switch (field.type) {
    case 'identifier':
      return id;
    case 'text':
      return `${column} ${digest.toString('hex', 0, 4)}`;
    case 'timestamp':
      return updated_at;
    case 'integer':
    case 'number':
      return number % 100;
    case 'boolean':
      return number % 2 === 0;
    case 'json':
      return {};
  }
}
