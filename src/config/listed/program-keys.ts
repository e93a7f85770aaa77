// The keys of one program in PROGRAMS_FILE, as the variables that they take the place of.

import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Environment } from '../config.ts';
import { MAY_BE_EMPTY, PROGRAM_KEYS, type ProgramKey, VARIABLES } from '../variables.ts';
import { withOwnMinute } from './own-minute.ts';
import type { Entry, Place, Value } from './read-yaml.ts';

export interface WrittenKey {
  readonly key: string;
  readonly place: Place;
}

export interface ProgramKeys {
  /** The texts of variables; undefined for one that the environment must not give. */
  readonly variables: Environment;
  /** By the variable. */
  readonly written: ReadonlyMap<string, WrittenKey>;
  /** The variables whose keys were refused. */
  readonly refused: ReadonlySet<string>;
}

type Refuse = (place: Place, message: string) => void;

const KEYS: ReadonlyMap<string, ProgramKey> = new Map(PROGRAM_KEYS.map((key) => [key.key, key]));
const SECRET = 'AFFILIATE_API_SECRET';
const SECRET_FILE = 'AFFILIATE_API_SECRET_FILE';

/** Reads the entries of a program. Problems go to `refuse`. */
export function readProgramKeys(
  name: string,
  entries: readonly Entry[],
  environment: Environment,
  refuse: Refuse,
): ProgramKeys {
  const variables: Record<string, string | undefined> = {};
  const written = new Map<string, WrittenKey>();
  const refused = new Set<string>();
  const seen = new Set<string>();
  for (const { key, place, value } of entries) {
    const known = KEYS.get(key);
    if (known === undefined) {
      if (isSecret(key)) refused.add(SECRET);
      refuse(place, describeUnknownKey(key));
    } else if (seen.has(key)) refuse(place, `${key} is there twice`);
    else {
      seen.add(key);
      const { variable } = known;
      const text = readText(known, value, name, environment);
      if ('problem' in text) {
        refused.add(variable);
        refuse(value.place, `${key} ${text.problem}`);
      } else {
        variables[variable] = text.text;
        written.set(variable, { key, place: value.place });
      }
    }
  }
  const isFile = seen.has('secret_file');
  const isEnv = seen.has('secret_env');
  if (isFile && isEnv) {
    const last = entries.findLast(({ key }) => key === 'secret_file' || key === 'secret_env');
    if (last !== undefined) refuse(last.place, 'secret_file and secret_env are both there: keep one of them');
    refused.add(SECRET);
  }
  // One of a program takes the place of either of the environment's.
  if (isFile) variables[SECRET] = undefined;
  else if (isEnv) variables[SECRET_FILE] = undefined;
  if (refused.has(SECRET) || refused.has(SECRET_FILE)) refused.add(SECRET).add(SECRET_FILE);
  return { variables, written, refused };
}

/** Returns the text of the variable, or a problem that quotes nothing. */
function readText(
  { key, variable, form }: ProgramKey,
  value: Value,
  name: string,
  environment: Environment,
): { text: string } | { problem: string } {
  if (value.kind !== 'scalar') return { problem: 'must be one value, not a list or a mapping' };
  const { scalar } = value;
  if (scalar === null) return { problem: 'has no value: give one, or leave it out' };
  const read = form.safeParse(scalar);
  if (!read.success) return { problem: read.error.issues[0]?.message ?? 'is malformed' };
  const text = String(read.data);
  if (text.trim() === '' && !MAY_BE_EMPTY.includes(variable)) {
    return { problem: 'is empty: give a value, or leave it out' };
  }
  if (variable === SECRET) {
    const secret = environment[text];
    return secret?.trim() ? { text: secret } : { problem: 'names a variable that is not set, or is empty' };
  }
  // The reader would quote it.
  if (variable === SECRET_FILE && !isPath(text)) return { problem: 'must be the path of a file that exists' };
  return { text: key.endsWith('_cron') ? withOwnMinute(text, name) : text };
}

function isPath(text: string): boolean {
  return isAbsolute(text) || text.startsWith('.') || existsSync(text);
}

const SECRET_MISSING =
  'secret_file is not there, nor secret_env: name a file that holds the API secret, or a variable';

const KEY_OF: ReadonlyMap<string, string> = new Map([
  ...PROGRAM_KEYS.map(({ key, variable }) => [variable, key] as const),
  // Where a message says what to set.
  [SECRET, 'secret_file'],
]);
const VARIABLE = new RegExp(`\\b(?:${[...KEY_OF.keys()].join('|')})\\b`, 'g');

/**
 * Returns the problem of a variable in the words of the file; `key` is the one that was written. Null if it is not of a
 * program.
 */
export function nameKeys(problem: string, key?: string): string | null {
  const [variable = ''] = problem.split(/[ .]/, 1);
  const first = key ?? KEY_OF.get(variable);
  if (first === undefined) return null;
  if (variable === SECRET && key === undefined) return SECRET_MISSING;
  return `${first}${problem.slice(variable.length).replaceAll(VARIABLE, (name) => KEY_OF.get(name) ?? name)}`;
}

/** Returns what is wrong with a key of a program, or of the whole file. */
export function describeUnknownKey(key: string): string {
  const variable = VARIABLES.find(({ name }) => name === key.toUpperCase())?.name;
  const meant = PROGRAM_KEYS.find((one) => one.variable === variable);
  // A secret that a line break or a colon has made a key is not quoted.
  const quoted = variable !== undefined || /^[a-z_]{1,24}$/.test(key) ? key : 'what is here';
  if (variable !== undefined && meant === undefined) {
    return `${key} is a setting of the process, not of a program: set ${variable} in the environment`;
  }
  if (isSecret(key) && meant?.key !== 'secret_file') {
    return `${quoted} must not be in this file: name a file in secret_file, or a variable in secret_env`;
  }
  if (meant !== undefined) return `${key} is not a key: write ${meant.key}`;
  return `${quoted} is not a key of a program: there are ${[...KEYS.keys()].join(', ')}`;
}

function isSecret(key: string): boolean {
  return /secret|password|token/i.test(key);
}
