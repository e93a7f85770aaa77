// The mode of personal data, and the key of the hashes, from a file that a variable names.

import { createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describeError } from '../../base/describe-error.ts';

/** `plain`: as the API sends them. `hash`: as keyed hashes. `omit`: not at all. */
export const PERSONAL_DATA_MODES = ['plain', 'hash', 'omit'] as const;
export type PersonalDataMode = (typeof PERSONAL_DATA_MODES)[number];

export interface PersonalDataSettings {
  readonly mode: PersonalDataMode;
  /** A KeyObject, which shows its bytes neither in a log line nor in JSON. Never null in mode hash. */
  readonly key: KeyObject | null;
}

/** The bytes of an HMAC-SHA256: a shorter key is easier to guess. Source: RFC 2104, 3. */
const LEAST_KEY_BYTES = 32;

/** Returns the key in the file, or null. Problems are added to `problems`. */
export function readPersonalDataKey(
  given: Readonly<Record<string, string | undefined>>,
  problems: string[],
): KeyObject | null {
  const file = given['PII_KEY_FILE'];
  if (file === undefined) {
    if (given['PII'] === 'hash') {
      problems.push(
        `PII_KEY_FILE is not set, and PII=hash needs it: name a file of at least ${LEAST_KEY_BYTES} bytes, made with "head -c 32 /dev/urandom > FILE"`,
      );
    }
    return null;
  }
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    problems.push(`PII_KEY_FILE names ${file}, which cannot be read (${describeError(error)})`);
    return null;
  }
  if (bytes.length < LEAST_KEY_BYTES) {
    problems.push(
      `PII_KEY_FILE names ${file}, which holds ${bytes.length} bytes: a key needs at least ${LEAST_KEY_BYTES}`,
    );
    return null;
  }
  return createSecretKey(bytes);
}
