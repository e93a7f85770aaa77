// The package.json that is published, made from the project's: entry points in dist/, the dependencies that are not
// bundled, and nothing of development. The Node that the project pins for itself is left out above all: npm would put
// it before the installer's own.

export interface ProjectManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Everything in the published package beside its package.json. */
export const FILES: readonly string[] = [
  'dist',
  'migrations',
  'docs',
  'src/web/assets',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'THIRD-PARTY-LICENSES',
  'sbom.cdx.json',
];

/** Returns the manifest, without the dependencies of those names. */
export function publishedManifest(project: ProjectManifest, left: readonly string[]) {
  const { name, version, description, license, type, engines } = project;
  return {
    name,
    version,
    description,
    keywords: ['affiliate', 'referral', 'commission', 'mirror', 'postgres', 'sync'],
    license,
    type,
    engines,
    bin: { 'affiliate-mirror': 'dist/main.js' },
    exports: {
      './client': { types: './dist/types/client/client.d.ts', default: './dist/client.js' },
      './package.json': './package.json',
    },
    files: FILES,
    dependencies: Object.fromEntries(
      Object.entries(project.dependencies).filter(([dependency]) => !left.includes(dependency)),
    ),
  };
}
