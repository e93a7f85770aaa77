// What a file format knows: how each column is asked for, and how rows become bytes.

import { escapeIdentifier } from 'pg';
import type { Column } from '../relation.ts';
import type { Rows } from '../rows.ts';

/** Takes bytes, and is ready for more when it resolves. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

export interface Format {
  /** Of HTTP. */
  readonly contentType: string;
  /** Returns what the column is in the statement. */
  express(column: Column): string;
  /** Writes a whole file. Holds a few thousand rows at once. */
  write(file: WrittenFile, sink: Sink): Promise<void>;
}

export interface WrittenFile {
  /** For people, where the format shows one. */
  readonly title: string;
  readonly columns: readonly Column[];
  /** Of these columns, in their order; values behind them do not count. */
  readonly rows: Rows;
}

/** Returns the column as text that Postgres sends; what is made of several values as JSON. */
export function expressAsText({ name, type, kind }: Column): string {
  const identifier = escapeIdentifier(name);
  if (kind !== 'json') return identifier;
  // jsonb refuses a NUL and half a surrogate pair, which json holds. Line breaks are between its values only.
  return type === 'json'
    ? `translate(${identifier}::text, e'\\r\\n', '  ')`
    : `to_jsonb(${identifier})::text`;
}

/** Returns the value as text, in UTC with a Z, and with true and false; Postgres' own text of every other kind. */
export function spellText(text: string, { kind }: Pick<Column, 'kind'>): string {
  if (kind === 'timestamp') return text.replace(' ', 'T').replace(/\+00$/, 'Z');
  if (kind === 'boolean') return text === 't' ? 'true' : 'false';
  return text;
}
