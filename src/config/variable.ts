// What an environment variable is: its meaning, its default, and the schema that reads its text; and the schemas that
// several of them share.

import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { reading } from './reading.ts';

/** Returns the schema of a variable with a default, written as a user would write it and read by the same schema. */
export function variable<S extends z.ZodType<unknown, string>>(
  meaning: string,
  read: S,
  initial: z.input<S>,
) {
  const shownDefault = initial === '' ? 'none' : `\`${initial}\``;
  return read.prefault(initial as never).meta({ description: meaning, shownDefault });
}

/** Returns the schema of a variable that may be left out; `without` says what is done then. */
export function optional<S extends z.ZodType<unknown, string>>(meaning: string, read: S, without = 'none') {
  return read.optional().meta({ description: meaning, shownDefault: without });
}

/** What some variables hold, as their schemas read them. */
export type Values<V extends z.ZodRawShape> = z.output<z.ZodObject<V>>;

/** Accepts a whole number. */
export const integer = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`);

/**
 * The parser takes H for a random value, another one each time, drops the end of 1-2-3, and writes the whole range in
 * place of a *: 5* becomes 50-59. It makes up fields that are missing.
 */
const MISREAD = /\bH\b|-[^,]*-|[^,]\*|[*?][^/,]/i;

/** Accepts cron syntax, as BullMQ's own parser reads it; empty means no such schedule. */
export const cron = reading((text, refuse): string | null => {
  if (text.trim() === '') return null;
  const fields = text.trim().split(/\s+/);
  const isKnown = fields.length >= 5 && fields.length <= 6 && !fields.some((field) => MISREAD.test(field));
  if (isKnown && canBeParsed(fields.join(' '))) return fields.join(' ');
  return refuse(
    `must be due at some time, and have five fields (minute hour day month weekday), such as 0 2 * * *, or a second first: ${text}`,
  );
});

/** Accepts names with commas between them. */
export const names = z.string().transform((text) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
);

function canBeParsed(pattern: string): boolean {
  try {
    CronExpressionParser.parse(pattern);
    return true;
  } catch {
    return false;
  }
}
