// The kinds of values that the API sends, as zod schemas.

import { z } from 'zod';
import { findTimestampProblem } from './timestamp.ts';

/**
 * An identifier: a UUID in text form. Source: contract, What the service does (stored as a string, never a number).
 * Any variant and version is accepted, since the contract names none.
 */
export const identifier = z.guid();

/**
 * Returns an identifier in lower case, any other text as it is. All code has identifiers in lower case: to Postgres
 * "3F" is not "3f", and an API that changes the case would make a second row of each record.
 */
export function lowerCaseId(id: string): string {
  // Hardly any has a capital, so that the regular expression decides quickly.
  return CAPITAL.test(id) && identifier.safeParse(id).success ? id.toLowerCase() : id;
}

const CAPITAL = /[A-F]/;

const IDENTIFIERS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Returns every identifier in a text, as it is spelled there. */
export function identifiersIn(text: string): readonly string[] {
  return text.match(IDENTIFIERS) ?? [];
}

/**
 * A date and time: ISO 8601 with a zone, stored as text so that no precision is lost.
 * Source: contract, What the service does; Times.
 * Postgres accepts no zones beyond ±15:59.
 */
export const timestamp = z
  .string('expected an ISO 8601 date and time with a time zone')
  .superRefine((text, context) => {
    const message = findTimestampProblem(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

/** A counter or an amount: an integer that both a JavaScript number and a bigint column hold exactly. */
export const integer = z.int();

/** Free text, also for values of an open set: the API may add values at any time, so none is an enum. */
export const text = z.string();
