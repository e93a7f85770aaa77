// Reads the API secret from a variable, or from a file that a variable names.

import { readFileSync } from 'node:fs';

/** Returns the secret, or null where there is none; what is wrong with it is added to `problems`. */
export function readSecret(
  given: Readonly<Record<string, string | undefined>>,
  problems: string[],
): string | null {
  const { AFFILIATE_API_SECRET: direct, AFFILIATE_API_SECRET_FILE: file } = given;
  if (direct !== undefined && file !== undefined) {
    problems.push('AFFILIATE_API_SECRET and AFFILIATE_API_SECRET_FILE are both set: keep one of them');
    return null;
  }
  if (file === undefined)
    return direct === undefined ? null : checkSecret(direct, 'AFFILIATE_API_SECRET', problems);
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    problems.push(`AFFILIATE_API_SECRET_FILE names ${file}, which cannot be read (${code})`);
    return null;
  }
  return checkSecret(content, 'AFFILIATE_API_SECRET_FILE', problems);
}

// Every editor and `echo` leave a trailing newline; other white space inside would corrupt the header.
function checkSecret(raw: string, variable: string, problems: string[]): string | null {
  const secret = raw.trim();
  if (secret === '') {
    problems.push(`${variable} holds no secret: it is empty`);
    return null;
  }
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(secret)) {
    problems.push(`${variable} holds a character that no API secret has (a space, a colon or a line break)`);
    return null;
  }
  return secret;
}
