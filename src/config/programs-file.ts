// PROGRAMS_FILE: many affiliate programs, by name. Each is the environment with the program's keys laid over it, read
// by the readers of the environment, so that a program in the file and one in variables are the same.
//
// Import it only where PROGRAMS_FILE is set: the parser takes a tenth of a second to load.

import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describeError } from '../base/describe-error.ts';
import { ConfigError } from '../base/errors.ts';
import { type Environment, type ReachableConfig, readProgramConfig } from './config.ts';
import { describeUnknownKey, nameKeys, type ProgramKeys, readProgramKeys } from './listed/program-keys.ts';
import { type Entry, type Place, readYaml, type Value } from './listed/read-yaml.ts';
import { findSharedSchemas } from './listed/shared-schemas.ts';
import { environmentSchema } from './variables.ts';

/** One program of PROGRAMS_FILE. */
export interface ListedProgram {
  readonly name: string;
  /** Its `program.name` is the same. */
  readonly config: ReachableConfig;
  /** Changes with anything of the program, its secret's text included. Compared within a process only. */
  readonly digest: string;
}

export const PROGRAM_NAME = /^[a-z][a-z0-9-]{0,30}$/;

interface Problem {
  readonly place: Place;
  /** Null if it is of no program. */
  readonly program: string | null;
  readonly message: string;
}

interface Named {
  readonly name: string;
  readonly place: Place;
  readonly keys: ProgramKeys;
  readonly schema: string;
  readonly environment: Environment;
}

/**
 * Returns the programs in the file's order, at least one; null if PROGRAMS_FILE is not set.
 *
 * Throws: ConfigError naming every problem at once; none quotes a secret.
 */
export function readPrograms(
  environment: Environment,
  use: { readonly servesPage: boolean } = { servesPage: false },
): readonly ListedProgram[] | null {
  const file = environment['PROGRAMS_FILE'];
  if (file === undefined || file.trim() === '') return null;
  const problems: Problem[] = [];
  /** Of the environment, for all programs. */
  const common = new Set<string>();
  const base = readBaseSchema(environment, common);
  const named = readNamed(readFileText(file), { environment, base }, problems);
  const listed = named.flatMap((program) => readListed(program, use, problems, common));
  for (const { program, message } of findSharedSchemas(named, base)) {
    const place = program.keys.written.get('MIRROR_SCHEMA')?.place ?? program.place;
    problems.push({ place, program: program.name, message });
  }
  problems.push(...findSharedAccounts(listed, named));
  if (problems.length === 0 && common.size === 0) return listed;
  const ordered = problems.toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
  throw new ConfigError([
    ...common,
    ...ordered.map(({ place: { line, column }, program, message }) => {
      const whose = program === null ? '' : `program ${program}: `;
      return `${file}:${line}:${column} ${whose}${message}`;
    }),
  ]);
}

function readFileText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`PROGRAMS_FILE names ${file}, which cannot be read (${describeError(error)})`]);
  }
}

/** The default schemas of the programs begin with it. */
function readBaseSchema(environment: Environment, common: Set<string>): string {
  const { MIRROR_SCHEMA } = environmentSchema.shape;
  const read = MIRROR_SCHEMA.safeParse(
    environment['MIRROR_SCHEMA']?.trim() ? environment['MIRROR_SCHEMA'] : undefined,
  );
  if (read.success) return read.data;
  common.add(`MIRROR_SCHEMA ${read.error.issues[0]?.message}`);
  return MIRROR_SCHEMA.parse(undefined);
}

/** Returns the programs that have a usable name. */
function readNamed(
  text: string,
  { environment, base }: { readonly environment: Environment; readonly base: string },
  problems: Problem[],
): readonly Named[] {
  const read = readYaml(text);
  if ('problems' in read) {
    problems.push(...read.problems.map((problem) => ({ ...problem, program: null })));
    return [];
  }
  const refuse = (place: Place, message: string, program: string | null = null) => {
    problems.push({ place, program, message });
  };
  const named: Named[] = [];
  for (const { key: name, place, value } of findPrograms(read.root, refuse)) {
    if (!PROGRAM_NAME.test(name)) {
      refuse(place, 'a name must be small letters, digits and hyphens, a letter first, at most 31');
    } else if (named.some((other) => other.name === name)) refuse(place, 'is there twice', name);
    else if (value.kind !== 'mapping')
      refuse(value.place, 'must have keys, such as url and secret_file', name);
    else {
      const keys = readProgramKeys(name, value.entries, environment, (at, message) =>
        refuse(at, message, name),
      );
      const schema = keys.variables['MIRROR_SCHEMA'] ?? `${base}_${name.replaceAll('-', '_')}`;
      const own = { ...environment, ...keys.variables, MIRROR_SCHEMA: schema };
      named.push({ name, place, keys, schema, environment: own });
    }
  }
  return named;
}

function findPrograms(root: Value, refuse: (place: Place, message: string) => void): readonly Entry[] {
  const wanted = 'must be "programs:", with a program below it by its name';
  if (root.kind !== 'mapping') {
    refuse(root.place, `the file ${wanted}`);
    return [];
  }
  const [programs, ...twice] = root.entries.filter(({ key }) => key === 'programs');
  for (const { key, place } of root.entries) if (key !== 'programs') refuse(place, describeUnknownKey(key));
  for (const { place } of twice) refuse(place, 'programs is there twice');
  if (programs === undefined) {
    if (root.entries.length === 0) refuse(root.place, `the file ${wanted}`);
    else refuse(root.place, 'programs is not there: it has each program by its name');
    return [];
  }
  const { value } = programs;
  if (value.kind === 'mapping' && value.entries.length > 0) return value.entries;
  refuse(value.place, 'programs must have at least one program, by its name');
  return [];
}

function readListed(
  { name, place, keys, environment }: Named,
  use: { readonly servesPage: boolean },
  problems: Problem[],
  common: Set<string>,
): ListedProgram[] {
  try {
    const config = readProgramConfig(environment, { ...use, name });
    return [{ name, config, digest: digestOf(config) }];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) {
      const [variable = ''] = problem.split(/[ .]/, 1);
      if (keys.refused.has(variable)) continue;
      const written = keys.written.get(variable);
      const isDefault = variable === 'MIRROR_SCHEMA' || !environment[variable]?.trim();
      const message = written !== undefined || isDefault ? nameKeys(problem, written?.key) : null;
      if (message === null) common.add(problem);
      else problems.push({ place: written?.place ?? place, program: name, message });
    }
    return [];
  }
}

/** Returns a problem for each program that is one before it under another name. */
function findSharedAccounts(listed: readonly ListedProgram[], named: readonly Named[]): Problem[] {
  const owners = new Map<string, string>();
  return listed.flatMap(({ name, config }) => {
    const { url, secret } = config.program.address;
    const account = `${url} ${secret}`;
    const owner = owners.get(account);
    owners.set(account, owner ?? name);
    const place = named.find((program) => program.name === name)?.place;
    if (owner === undefined || place === undefined) return [];
    return [{ place, program: name, message: `has the address and the secret of program ${owner}` }];
  });
}

// Without the key, a digest in a log would let a weak secret be guessed.
const DIGEST_KEY = randomBytes(32);

function digestOf({ program }: ReachableConfig): string {
  const whole = JSON.stringify([program, program.personalData.key?.export().toString('hex')]);
  return createHmac('sha256', DIGEST_KEY).update(whole).digest('hex');
}
