// The text of a secret: in the variable NAME, or in the file that NAME_FILE names.

import { readFileSync } from 'node:fs';
import { describeError } from '../base/describe-error.ts';

export interface SecretText {
  readonly text: string;
  /** NAME or NAME_FILE. */
  readonly from: string;
}

/** Returns the text unchanged; null if neither is set. Problems are added to `problems`. */
export function readSecretText(
  name: string,
  given: Readonly<Record<string, string | undefined>>,
  problems: string[],
): SecretText | null {
  const fileName = `${name}_FILE`;
  const { [name]: direct, [fileName]: file } = given;
  if (direct !== undefined && file !== undefined) {
    problems.push(`${name} and ${fileName} are both set: keep one of them`);
    return null;
  }
  if (file === undefined) return direct === undefined ? null : { text: direct, from: name };
  try {
    return { text: readFileSync(file, 'utf8'), from: fileName };
  } catch (error) {
    problems.push(`${fileName} names ${file}, which cannot be read (${describeError(error)})`);
    return null;
  }
}
