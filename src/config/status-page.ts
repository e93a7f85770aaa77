// Who may look at the status page: its passwords, from variables or from files that variables name, and which of them
// the address that it is served on asks for.

import { z } from 'zod';
import { isLoopback } from './program-access.ts';
import { readSecretText } from './read-secret-text.ts';
import { integer, optional, variable } from './variable.ts';

type Given = Readonly<Record<string, string | undefined>>;

export interface StatusPasswords {
  /** Opens the page; null where it is open to all of this machine. */
  readonly password: string | null;
  /** Opens the page with personal data on it; null where nobody sees any. */
  readonly piiPassword: string | null;
}

/**
 * A shorter one is guessed in spite of the door's patience. Source: NIST SP 800-63B, 3.1.1.2 (a password with a limit
 * on tries).
 */
const LEAST_CHARACTERS = 8;

/** Returns `/affiliates/` as `/affiliates`, and `/` as nothing: what every address of the page begins with. */
const basePathSchema = z
  .string()
  .regex(/^(\/[\w.~-]+)*\/?$/, 'must be a path such as /affiliates')
  .refine((path) => !/\/\.\.?(\/|$)/.test(path), 'must be a path without . and ..')
  .transform((path) => path.replace(/\/$/, ''));

/** Returns the passwords; what is wrong with them is added to `problems`. */
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

/** Adds to `problems` that a page which others can reach has no password. */
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
    'address that a worker serves its status page on; any but this machine alone (`127.0.0.1`) needs a password',
    z.string().regex(/^\S+$/, 'must be an address or the name of a host'),
    '127.0.0.1',
  ),
  STATUS_PORT: variable('port of the same; 0 for any free one', integer(0, 65_535), '8080'),
  STATUS_PASSWORD: optional('the password of the status page, 8 characters or more', z.string()),
  STATUS_PASSWORD_FILE: optional('a file that holds it', z.string()),
  STATUS_PII_PASSWORD: optional(
    'another password, with which the page shows personal data',
    z.string(),
    'nobody sees any',
  ),
  STATUS_PII_PASSWORD_FILE: optional('a file that holds it', z.string()),
  STATUS_BASE_PATH: variable(
    'path that a reverse proxy serves the page below, such as `/affiliates`; it passes the path on unchanged',
    basePathSchema,
    '',
  ),
  METRICS: variable(
    'who may read `/metrics`: `guarded` (whoever has the password of the page) or `open` (everybody)',
    z.enum(['guarded', 'open'], 'must be guarded or open'),
    'guarded',
  ),
};
