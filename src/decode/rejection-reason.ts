// Describes in a short line why a record does not fit: path, expected, got.

import type { z } from 'zod';
import { isExactNumber } from '../contract/exact-number.ts';
import type { Timestamp } from '../contract/timestamp.ts';

/** A record that cannot be stored, and why. */
export interface Rejection {
  /** Null if the record has no usable identifier. */
  readonly id: string | null;
  readonly reason: string;
  /** The record, as deep as it can be stored. */
  readonly payload: unknown;
  readonly observedAt: Timestamp;
}

const NAMED_ISSUES = 3;

/**
 * Returns, for example, `affiliate.email: expected string, got number`, with the first few problems. A value is not
 * quoted: it may be about a person.
 */
export function describeIssues(issues: readonly z.core.$ZodIssue[], record: unknown, prefix: string): string {
  const named = issues.slice(0, NAMED_ISSUES).map((issue) => describeIssue(issue, record, prefix));
  const more = issues.length - named.length;
  return named.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** Returns the JSON type of a value: null and array are types of their own. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Returns the value at the path; undefined if there is none. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (current === null || typeof current !== 'object') return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

function describeIssue(issue: z.core.$ZodIssue, record: unknown, prefix: string): string {
  const path = `${prefix}${issue.path.join('.')}`;
  const value = valueAt(record, issue.path);
  return `${path === '' ? 'record' : path}: ${expected(issue, value)}, got ${describeType(value)}`;
}

function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON.parse makes Infinity of 1e400.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large';
  return jsonType(value);
}

function expected(issue: z.core.$ZodIssue, value: unknown): string {
  const isTooLong = issue.code === 'invalid_type' && issue.expected === 'number' && isExactNumber(value);
  if (isTooLong) return 'expected a whole number below 2^53';
  if (issue.code === 'invalid_type') return `expected ${issue.expected}`;
  if (issue.message.startsWith('expected')) return issue.message;
  if (issue.code === 'invalid_format') return `expected ${issue.format === 'guid' ? 'a UUID' : issue.format}`;
  return issue.message;
}
