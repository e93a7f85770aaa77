// The package's directory as npm would publish it: its manifest, its files, and that they run by themselves. What npm
// makes of it when it installs it is in install.long.test.ts.

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { BUNDLED } from '../../tools/packaging/build.ts';
import { makePackage } from '../../tools/packaging/make-package.ts';
import { makeDirectory } from '../support/directory.ts';
import { BLOCKS, ROOT, readCommands } from '../support/read-docs.ts';
import { readImports } from '../support/read-imports.ts';

let directory: string;
let tarball: string;
let manifest: Record<string, unknown> & { dependencies: Record<string, string> };

beforeAll(async () => {
  // Outside the project: nothing in its node_modules can be found from there.
  directory = await makeDirectory();
  ({ tarball } = await makePackage(directory));
  manifest = JSON.parse(read('package.json'));
});

function read(path: string): string {
  return readFileSync(join(directory, path), 'utf8');
}

describe('the manifest', () => {
  test('has nothing of development, and no Node', () => {
    const fields = ['name', 'version', 'description', 'keywords', 'license', 'type', 'engines', 'bin'];
    expect(Object.keys(manifest)).toEqual([...fields, 'exports', 'files', 'dependencies']);
    expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith('node-'))).toEqual([]);
  });

  test('installs every dependency that is not bundled, in its exact version, and zod for the types', () => {
    const expected = Object.entries(project.dependencies).filter(
      ([name]) => name === 'zod' || !BUNDLED.includes(name),
    );
    expect(manifest.dependencies).toEqual(Object.fromEntries(expected));
    for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test('names files that are there', () => {
    const { bin, exports, files } = manifest as unknown as {
      bin: Record<string, string>;
      exports: Record<string, string | Record<string, string>>;
      files: string[];
    };
    const named = [
      ...Object.values(bin),
      ...files,
      ...Object.values(exports).flatMap((one) => (typeof one === 'string' ? [one] : Object.values(one))),
    ];
    expect(named.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
    // Whoever imports the package by its name in this repository has the same entry points.
    expect(Object.keys(exports)).toEqual(Object.keys(project.exports));
  });

  test('is that of the tarball which the pages name', () => {
    const installed = readCommands(BLOCKS).flatMap((command) =>
      command.kind === 'install' ? [command.args.at(-1)] : [],
    );
    expect(new Set(installed)).toEqual(new Set([`./${tarball}`]));
  });
});

describe('the files', () => {
  test('have the command with the flags that Node needs, to be executed', () => {
    const [first] = readFileSync(join(ROOT, 'src/main.ts'), 'utf8').split('\n');
    expect(first).toMatch(/^#!\/usr\/bin\/env -S node --\S/);
    expect(read('dist/main.js').split('\n')[0]).toBe(first);
    expect(statSync(join(directory, 'dist/main.js')).mode & 0o111).toBe(0o111);
  });

  test('have the migrations and the pages of the project', () => {
    for (const path of globSync(['migrations/**/*.sql', 'src/web/assets/*', 'docs/*.md', '*.md', 'LICENSE'], {
      cwd: ROOT,
    })) {
      expect(read(path)).toBe(readFileSync(join(ROOT, path), 'utf8'));
    }
  });

  test('have declarations of the client alone, which name no package but zod', () => {
    const declarations = globSync('dist/types/**/*', { cwd: directory }).filter((path) =>
      /\.\w+$/.test(path),
    );
    expect(declarations).toContain('dist/types/client/client.d.ts');
    const targets = declarations.flatMap((path) =>
      readImports(read(path), path).map(({ target }) => ({ path, target })),
    );
    const packages = targets.filter(({ target }) => !target.startsWith('.'));
    const names = packages.map(({ target }) => target.split('/')[0]);
    expect(new Set(names)).toEqual(new Set(['zod']));
    const own = targets.filter(({ target }) => target.startsWith('.'));
    const missing = own.filter(
      ({ path, target }) => !existsSync(join(directory, path, '..', target.replace(/\.js$/, '.d.ts'))),
    );
    expect(missing).toEqual([]);
  });

  test('name the license of everything that is bundled or installed, and list it with its hash', () => {
    const licenses = read('THIRD-PARTY-LICENSES');
    const bill = JSON.parse(read('sbom.cdx.json'));
    const names = new Set<string>(bill.components.map(({ name }: { name: string }) => name));
    for (const [name, version] of Object.entries(project.dependencies)) {
      expect(licenses).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')} ${version} \\(`, 'm'));
      expect(names).toContain(name);
    }
    expect(licenses.match(/^\S+ \S+ \(.+\), (part of dist\/|installed beside it)$/gm)).toHaveLength(
      bill.components.length,
    );
    expect([...names].filter((name) => name in project.devDependencies)).toEqual([]);
    expect(bill.metadata.component).toMatchObject({ name: 'affiliate-mirror', version: project.version });
    for (const component of bill.components) {
      expect(component).toMatchObject({ purl: expect.any(String), hashes: [expect.any(Object)] });
    }
  });
});

test('the command says its version, that of Node and that of the schema, before npm has installed anything', () => {
  const { stdout, status } = spawnSync(process.execPath, ['dist/main.js', '--version'], {
    cwd: directory,
    encoding: 'utf8',
  });
  const newest = globSync('migrations/*.sql', { cwd: ROOT }).toSorted().at(-1) ?? '';
  expect(stdout.split('\n')).toEqual([
    `affiliate-mirror ${project.version}`,
    `node ${process.versions.node}`,
    `schema ${newest.replace(/^migrations.|\.sql$/g, '')}`,
    '',
  ]);
  expect(status).toBe(0);
});
