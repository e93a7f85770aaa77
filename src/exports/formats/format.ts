// A file format: how each column is selected, and how rows become bytes.

import { escapeIdentifier } from 'pg';
import type { MoneyFormat } from '../../contract/money.ts';
import type { Column } from '../relation.ts';
import type { Rows } from '../rows.ts';

/** Resolves when more bytes may be written. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

export interface Format {
  /** Of HTTP. */
  readonly contentType: string;
  /** Returns the column's expression in the statement. */
  express(column: Column): string;
  /** Writes a whole file. Holds a few thousand rows at once. */
  write(file: WrittenFile, sink: Sink): Promise<void>;
}

export interface WrittenFile {
  /** For formats that show one. */
  readonly title: string;
  readonly columns: readonly Column[];
  /** For formats that have amounts in the currency's own unit. */
  readonly money: MoneyFormat;
  /** With values in the order of the columns; further values do not count. */
  readonly rows: Rows;
}

/** Returns the column as Postgres' text; arrays and composite values as JSON. */
export function expressAsText({ name, type, kind }: Column): string {
  const identifier = escapeIdentifier(name);
  if (kind !== 'json') return identifier;
  // jsonb refuses NUL and half a surrogate pair, which json may hold. Its line breaks are between values only.
  return type === 'json'
    ? `translate(${identifier}::text, e'\\r\\n', '  ')`
    : `to_jsonb(${identifier})::text`;
}

/** Returns times in UTC with a Z, booleans as true and false, and Postgres' own text for every other kind. */
export function spellText(text: string, { kind }: Pick<Column, 'kind'>): string {
  if (kind === 'timestamp') return text.replace(' ', 'T').replace(/\+00$/, 'Z');
  if (kind === 'boolean') return text === 't' ? 'true' : 'false';
  return text;
}
