// NDJSON: one JSON object in each line. Numbers have all of their digits, also beyond those that JavaScript holds.

import type { Column } from '../relation.ts';
import type { Row } from '../rows.ts';
import { expressAsText, type Format, spellText } from './format.ts';

export const NDJSON: Format = {
  contentType: 'application/x-ndjson',
  express: expressAsText,
  async write({ columns, rows }, sink) {
    const names = columns.map(({ name }) => JSON.stringify(name));
    for await (const batch of rows) {
      let text = '';
      for (const row of batch) text += `${spellRow(row, columns, names)}\n`;
      await sink(Buffer.from(text));
    }
  },
};

function spellRow(row: Row, columns: readonly Column[], names: readonly string[]): string {
  const members = columns.map((column, index) => {
    const value = row[index] ?? null;
    return `${names[index]}:${value === null ? 'null' : spellValue(value, column)}`;
  });
  return `{${members.join(',')}}`;
}

/** JSON has no NaN and no infinity: they are texts, as Postgres' own to_json has them. */
const NUMBER = /^-?\d/;

function spellValue(text: string, column: Column): string {
  const { kind } = column;
  if (kind === 'json' || kind === 'integer' || kind === 'sum' || (kind === 'double' && NUMBER.test(text))) {
    return text;
  }
  const spelled = spellText(text, column);
  return kind === 'boolean' ? spelled : JSON.stringify(spelled);
}
