// Access to the status page: its passwords, from variables or files, and the address that needs one.

import { z } from 'zod';
import { isLoopback } from '../program/program-access.ts';
import { readSecretText } from '../read-secret-text.ts';
import { integer, optional, variable } from '../variable.ts';

type Given = Readonly<Record<string, string | undefined>>;

export interface StatusPasswords {
  /** Opens the status page; null if it is open to all of this machine. */
  readonly password: string | null;
  /** Opens the status page with personal data; null if it shows none. */
  readonly piiPassword: string | null;
}

/**
 * A shorter one can be guessed despite the limit of attempts. Source: NIST SP 800-63B, 3.1.1.2 (a password with a limit
 * on tries).
 */
const LEAST_CHARACTERS = 8;

/** The beginning of every address of the status page, without a final slash. */
const basePathSchema = z
  .string()
  .regex(/^(\/[\w.~-]+)*\/?$/, 'must be a path such as /affiliates')
  .refine((path) => !/\/\.\.?(\/|$)/.test(path), 'must be a path without . and ..')
  .transform((path) => path.replace(/\/$/, ''));

/** Returns the passwords; problems are added to `problems`. */
export function readStatusPasswords(given: Given, problems: string[]): StatusPasswords {
  const password = readPassword('STATUS_PASSWORD', given, problems);
  const piiPassword = readPassword('STATUS_PII_PASSWORD', given, problems);
  if (password !== null && password === piiPassword) {
    problems.push(
      'STATUS_PII_PASSWORD is the same as STATUS_PASSWORD: personal data need a password of their own',
    );
  }
  return { password, piiPassword };
}

/** Adds a problem if other machines can reach the status page and it has no password. */
export function refuseOpenPage(host: string, given: Given, problems: string[]): void {
  if (isLoopback(host)) return;
  if (given['STATUS_PASSWORD'] !== undefined || given['STATUS_PASSWORD_FILE'] !== undefined) return;
  problems.push(
    `STATUS_HOST is ${host}, where others can reach the status page, and it has no password: set STATUS_PASSWORD (or STATUS_PASSWORD_FILE), or STATUS_HOST to 127.0.0.1`,
  );
}

function readPassword(name: string, given: Given, problems: string[]): string | null {
  const password = readSecretText(name, given, problems);
  return password === null ? null : checkPassword(password.text, password.from, problems);
}

// Every editor and `echo` leave a trailing newline.
function checkPassword(raw: string, name: string, problems: string[]): string | null {
  const password = raw.trim();
  if (password.length < LEAST_CHARACTERS) {
    problems.push(
      `${name} holds a password of less than ${LEAST_CHARACTERS} characters: choose a longer one`,
    );
    return null;
  }
  // Source: RFC 7617, section 2.
  if (/\p{Cc}/u.test(password)) {
    problems.push(`${name} holds a password that no browser can send: leave out line breaks and tabs`);
    return null;
  }
  return password;
}

/** The variables of this part, as variables.ts lists them. */
export const STATUS_VARIABLES = {
  STATUS_HOST: variable(
    'address of the status page; any but `127.0.0.1` needs a password',
    z.string().regex(/^\S+$/, 'must be an address or the name of a host'),
    '127.0.0.1',
  ),
  STATUS_PORT: variable('port of the same; 0 for any free one', integer(0, 65_535), '8080'),
  STATUS_PASSWORD: optional('the password of the status page, 8 characters or more', z.string()),
  STATUS_PASSWORD_FILE: optional('a file that holds it', z.string()),
  STATUS_PII_PASSWORD: optional(
    'another password, which shows personal data',
    z.string(),
    'the status page shows none',
  ),
  STATUS_PII_PASSWORD_FILE: optional('a file that holds it', z.string()),
  STATUS_BASE_PATH: variable(
    'path that a reverse proxy serves the status page below, such as `/affiliates`',
    basePathSchema,
    '',
  ),
  METRICS: variable(
    'access to `/metrics`: `guarded` (with the password of the status page) or `open`',
    z.enum(['guarded', 'open'], 'must be guarded or open'),
    'guarded',
  ),
};
