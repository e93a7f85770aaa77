// /openapi.json as others judge it: the two usual linters, with the rules that they recommend, find nothing. They bring
// eighty megabytes with them, so they are installed for this test only.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPTIONAL_LISTS } from '../../src/config/optional-lists.ts';
import { makeOpenapiDocument } from '../../src/sandbox/openapi.ts';
import { SPELLINGS } from '../../src/sandbox/wire.ts';

const LINTERS = ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3'];
const DOCUMENTS = SPELLINGS.flatMap((spelling) =>
  [[], OPTIONAL_LISTS].map((optionalLists) => ({ spelling, optionalLists })),
);

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'openapi-lint-'));
  await writeFile(join(directory, 'package.json'), '{ "private": true }');
  await run('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--loglevel=error',
    ...LINTERS,
  ]);
  await writeFile(join(directory, 'rules.yaml'), 'extends: ["spectral:oas"]\n');
}, 600_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Returns what the program printed. Throws: where it ends with another code than 0, with what it printed. */
async function run(program: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout, stderr } = await promisify(execFile)(program, [...args], { cwd: directory, env });
  return `${stdout}${stderr}`;
}
const bin = (name: string) => join(directory, 'node_modules/.bin', name);

async function write(name: string, document: object): Promise<string> {
  await writeFile(join(directory, name), JSON.stringify(document));
  return name;
}

it.each(DOCUMENTS)('redocly lint and spectral find nothing: %o', async (style) => {
  const name = await write('openapi.json', makeOpenapiDocument(style));
  // Its strict set turns what it only warns of into an error.
  expect(await run(bin('redocly'), ['lint', '--extends=recommended-strict', name])).toContain('is valid');
  const spectral = ['lint', '--ruleset', 'rules.yaml', '--fail-severity', 'hint', name];
  expect(await run(bin('spectral'), spectral)).toContain("No results with a severity of 'hint' or higher");
});

it('both find what is wrong with a document', async () => {
  const { servers: _, ...broken } = makeOpenapiDocument({ spelling: 'neutral', optionalLists: [] });
  const name = await write('broken.json', broken);
  await expect(run(bin('redocly'), ['lint', '--extends=recommended-strict', name])).rejects.toThrow();
  const spectral = ['lint', '--ruleset', 'rules.yaml', '--fail-severity', 'hint', name];
  await expect(run(bin('spectral'), spectral)).rejects.toThrow();
});
