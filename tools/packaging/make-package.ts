// Makes the package's directory: what npm publishes, file by file.

import { chmod, copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import project from '../../package.json' with { type: 'json' };
import { BUNDLED, build, NAMED_BY_TYPES } from './build.ts';
import { publishedManifest } from './manifest.ts';
import { describeLicenses, findThirdParties, makeBillOfMaterials } from './third-parties.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Makes the directory anew, and returns the name of the tarball that npm makes of it.
 *
 * Throws: Error where the code does not compile, where it imports a package that would not be installed, or where npm
 * fails.
 */
export async function makePackage(directory: string): Promise<{ tarball: string }> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const { bundled, imported } = await build(join(directory, 'dist'));
  await chmod(join(directory, 'dist/main.js'), 0o755);

  const manifest = publishedManifest(
    project,
    BUNDLED.filter((name) => !NAMED_BY_TYPES.includes(name)),
  );
  const missing = imported.filter((name) => manifest.dependencies[name] === undefined);
  if (missing.length > 0) throw new Error(`dist/ imports what would not be installed: ${missing.join(', ')}`);
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

  const parties = findThirdParties(bundled, Object.keys(manifest.dependencies));
  await writeFile(join(directory, 'THIRD-PARTY-LICENSES'), describeLicenses(parties));
  await writeFile(join(directory, 'sbom.cdx.json'), makeBillOfMaterials(parties));

  // The README and --help lead to the pages; the status page reads its assets.
  for (const folder of ['migrations', 'docs', 'src/web/assets']) {
    await cp(join(ROOT, folder), join(directory, folder), { recursive: true });
  }
  for (const file of ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE']) {
    await copyFile(join(ROOT, file), join(directory, file));
  }
  return { tarball: `${manifest.name}-${manifest.version}.tgz` };
}
