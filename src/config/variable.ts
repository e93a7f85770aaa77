// The declaration of an environment variable: meaning, default and schema; and the schemas that several share.

import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { reading } from './reading.ts';

/** Returns the schema of a variable with a default, which is written as a user writes it. */
export function variable<S extends z.ZodType<unknown, string>>(
  meaning: string,
  read: S,
  initial: z.input<S>,
) {
  const shownDefault = initial === '' ? 'none' : `\`${initial}\``;
  return read.prefault(initial as never).meta({ description: meaning, shownDefault });
}

/** Returns the schema of a variable without a default; `without` describes it unset. */
export function optional<S extends z.ZodType<unknown, string>>(meaning: string, read: S, without = 'none') {
  return read.optional().meta({ description: meaning, shownDefault: without });
}

/** What a key of PROGRAMS_FILE is, beside the variable that it takes the place of. */
interface ProgramKeyEntry {
  readonly key: string;
  /** The schema of the value in the file. */
  readonly form: z.ZodType<string | number>;
  /** Undefined: that of the variable. */
  readonly meaning?: string;
}

const programKeys = new WeakMap<z.ZodType, ProgramKeyEntry>();

const TEXT = z.string('must be text');

/** Declares that the variable describes a program, and its key in PROGRAMS_FILE. Returns the variable's schema. */
export function ofProgram<S extends z.ZodType>(
  key: string,
  read: S,
  { form = TEXT, meaning }: Partial<Pick<ProgramKeyEntry, 'form' | 'meaning'>> = {},
): S {
  programKeys.set(read, { key, form, ...(meaning !== undefined && { meaning }) });
  return read;
}

/** Returns the key of a variable; undefined if it describes the process. */
export function findProgramKey(read: z.ZodType): ProgramKeyEntry | undefined {
  return programKeys.get(read);
}

/** The values of some variables. */
export type Values<V extends z.ZodRawShape> = z.output<z.ZodObject<V>>;

export const integer = (from: number, to: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`);

/**
 * Forms that the parser misreads: H is a new random value each time, 1-2-3 loses its end, and 5* becomes 50-59. It also
 * makes up missing fields.
 */
const MISREAD = /\bH\b|-[^,]*-|[^,]\*|[*?][^/,]/i;

/** Cron syntax, as BullMQ's parser reads it; empty is no schedule. */
export const cron = reading((text, refuse): string | null => {
  if (text.trim() === '') return null;
  const fields = text.trim().split(/\s+/);
  const isKnown = fields.length >= 5 && fields.length <= 6 && !fields.some((field) => MISREAD.test(field));
  if (isKnown && canBeParsed(fields.join(' '))) return fields.join(' ');
  return refuse(
    `must be due at some time, and have five fields (minute hour day month weekday), such as 0 2 * * *, or a second first: ${text}`,
  );
});

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
