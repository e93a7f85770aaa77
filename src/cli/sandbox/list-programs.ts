// The programs of `sandbox --programs`, and the PROGRAMS_FILE with which a mirror reaches them.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** What of a program's address and secret follows from its name. */
export interface NamedProgram {
  readonly name: string;
  readonly schema: string;
  /** Of a made-up program on this machine: no real secret. */
  readonly secret: string;
}

/** The first ten names are without a number: acme, birch, …, acme-2. */
const NAMES = ['acme', 'birch', 'cobalt', 'dune', 'ember', 'fjord', 'grove', 'harbor', 'ivory', 'juniper'];

export function namePrograms(schema: string, count: number): NamedProgram[] {
  return Array.from({ length: count }, (_, index) => {
    const number = Math.floor(index / NAMES.length) + 1;
    const name = `${NAMES[index % NAMES.length]}${number === 1 ? '' : `-${number}`}`;
    return { name, schema: `${schema}_${name.replaceAll('-', '_')}`, secret: `sandbox-secret-${name}` };
  });
}

export interface ProgramsFile {
  /** Absolute, as that of each secret. */
  readonly path: string;
  readonly text: string;
}

/** Writes the file and, since it may hold none, a file for each secret. A worker that reads it meets a whole one. */
export async function writeProgramsFile(
  dataDir: string,
  programs: readonly NamedProgram[],
  { url, rateLimit }: { readonly url: string; readonly rateLimit: string },
): Promise<ProgramsFile> {
  const directory = resolve(dataDir, 'sandbox');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const entries: string[] = [];
  for (const { name, secret } of programs) {
    const secretFile = join(directory, `${name}.secret`);
    await writeFile(secretFile, `${secret}\n`, { mode: 0o600 });
    // JSON quotes a path as YAML does.
    entries.push(`  ${name}:
    url: ${url}/${name}
    secret_file: ${JSON.stringify(secretFile)}
    rate_limit: ${rateLimit}
`);
  }
  const text = `programs:\n${entries.join('')}`;
  const path = join(directory, 'programs.yaml');
  await writeFile(`${path}.draft`, text);
  await rename(`${path}.draft`, path);
  return { path, text };
}
