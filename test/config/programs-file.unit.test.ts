// PROGRAMS_FILE: what it says is what the environment would say, and what is refused, in which words and at which place.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError } from '../../src/base/errors.ts';
import { type ReachableConfig, readProgramConfig } from '../../src/config/config.ts';
import { type ListedProgram, readPrograms } from '../../src/config/programs-file.ts';
import { PROGRAM_KEYS } from '../../src/config/variables.ts';
import { PROGRAMS_FILE_SCHEMA } from '../../tools/schemas/programs-file.ts';
import { makeDirectory } from '../support/directory.ts';
import { BLOCKS } from '../support/read-docs.ts';

const directory = await makeDirectory();
const FILE = join(directory, 'programs.yaml');
const SECRET_FILE = join(directory, 'secret');
const OTHER_SECRET_FILE = join(directory, 'other-secret');
const KEY_FILE = join(directory, 'key');
await writeFile(SECRET_FILE, 's3cret\n');
await writeFile(OTHER_SECRET_FILE, 'an0ther\n');
await writeFile(KEY_FILE, 'a key that is 32 bytes long, yes');

const ACCESS = { url: 'https://api.example.com', secret_file: SECRET_FILE };
const TOKEN = 'sk_live_Zx81';

type Environment = Readonly<Record<string, string>>;

async function read(text: string, environment: Environment = {}): Promise<readonly ListedProgram[]> {
  await writeFile(FILE, text);
  const programs = readPrograms({ ...environment, PROGRAMS_FILE: FILE });
  if (programs === null) throw new Error('the file was not read');
  return programs;
}

const readAll = (programs: object, environment?: Environment) => read(stringify({ programs }), environment);

/** Returns the problems, with `FILE` for the file's path. */
async function problemsOf(text: string, environment?: Environment): Promise<readonly string[]> {
  try {
    await read(text, environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => problem.replace(FILE, 'FILE'));
  }
}

/** Returns what a test can compare: a digest in place of functions and keys. */
function plain({ process, program }: ReachableConfig) {
  const { rereadSecret, ...address } = program.address;
  const key = program.personalData.key?.export().toString();
  return { process, program: { ...program, address, personalData: { ...program.personalData, key } } };
}

test('without PROGRAMS_FILE, or with an empty one, there is no list', () => {
  expect(readPrograms({})).toBeNull();
  expect(readPrograms({ PROGRAMS_FILE: ' ' })).toBeNull();
});

test('a file that is not there is named', () => {
  expect(() => readPrograms({ PROGRAMS_FILE: '/nowhere/x.yaml' })).toThrow(
    'PROGRAMS_FILE names /nowhere/x.yaml, which cannot be read (ENOENT',
  );
});

test('programs are in the order of the file, each with a name, a schema and a secret of its own', async () => {
  const programs = await readAll(
    {
      zeta: ACCESS,
      'acme-eu': { ...ACCESS, secret_file: undefined, secret_env: 'ACME_SECRET' },
      true: { ...ACCESS, url: 'https://other.example' },
    },
    { ACME_SECRET: 'of-acme', MIRROR_SCHEMA: 'copy' },
  );
  expect(
    programs.map(({ name, config: { program } }) => [
      name,
      program.name,
      program.mirrorSchema,
      program.address.secret,
    ]),
  ).toEqual([
    ['zeta', 'zeta', 'copy_zeta', 's3cret'],
    ['acme-eu', 'acme-eu', 'copy_acme_eu', 'of-acme'],
    ['true', 'true', 'copy_true', 's3cret'],
  ]);
});

const VALUES: Readonly<Record<string, fc.Arbitrary<string | number>>> = {
  url: fc.constantFrom('https://api.example.com', 'https://EXAMPLE.com/base/', 'http://127.0.0.1:8080'),
  secret_file: fc.constantFrom(SECRET_FILE, OTHER_SECRET_FILE),
  secret_env: fc.constant('ACME_SECRET'),
  schema: fc.stringMatching(/^m[a-z0-9_]{0,62}$/),
  pii: fc.constantFrom('plain', 'hash', 'omit'),
  pii_key_file: fc.constant(KEY_FILE),
  rate_limit: fc.constantFrom('45/30', 'none', '1/0.5'),
  timeout_ms: fc.integer({ min: 1, max: 600_000 }),
  amount_unit: fc.constantFrom('minor', 'cent', 'major'),
  full_cron: fc.constantFrom('', '0 2 * * *', '5 0 2 * * 1'),
  delta_cron: fc.constantFrom('', '*/15 * * * *', '0 * * * *'),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Tokyo'),
  optional_lists: fc.constantFrom('auto', 'none', 'campaigns, payouts'),
};

test('every key has values here', () => {
  expect(Object.keys(VALUES).toSorted()).toEqual(PROGRAM_KEYS.map(({ key }) => key).toSorted());
});

const written = fc
  .record(VALUES, { requiredKeys: ['url', 'pii_key_file', 'schema'] })
  .map(({ secret_env, secret_file = SECRET_FILE, ...keys }) =>
    secret_env === undefined ? { ...keys, secret_file } : { ...keys, secret_env },
  );
/** Set for all programs; some of it is overlaid. */
const common = fc.record({
  API_RATE_LIMIT: fc.constantFrom('9/1', 'none'),
  SYNC_FULL_CRON: fc.constantFrom('', '7 7 * * *'),
  AFFILIATE_API_SECRET: fc.constant('of-all'),
  LOG_LEVEL: fc.constant('warn'),
  DISPLAY_TIMEZONE: fc.constant('America/New_York'),
});

test('what the file says is what the environment would say, in place of what it says for all', async () => {
  await fc.assert(
    fc.asyncProperty(written, common, async (keys, shared) => {
      const environment = { ...shared, ACME_SECRET: 'of-acme' };
      expect(PROGRAMS_FILE_SCHEMA.parse({ programs: { acme: keys } })).toEqual({ programs: { acme: keys } });
      const [listed] = await readAll({ acme: keys }, environment);
      const { AFFILIATE_API_SECRET: _, ...others } = environment;
      const said = PROGRAM_KEYS.flatMap(({ key, variable }) => {
        const value: unknown = Reflect.get(keys, key);
        if (value === undefined) return [];
        return [[variable, key === 'secret_env' ? 'of-acme' : String(value)]];
      });
      const alone = readProgramConfig({ ...others, ...Object.fromEntries(said), PROGRAMS_FILE: FILE });
      const { process, program } = plain(alone);
      expect(listed && plain(listed.config)).toEqual({ process, program: { ...program, name: 'acme' } });
    }),
    { numRuns: 200 },
  );
});

test('a digest changes with each key, with the text of a secret and that of a key, and with nothing else', async () => {
  const digest = async (keys: object, environment: Environment = {}) =>
    (await readAll({ acme: { ...ACCESS, ...keys } }, environment))[0]?.digest;
  const first = await digest({});
  expect(await digest({ rate_limit: '45/30' })).toBe(first);
  const others = [
    await digest({ url: 'https://other.example' }),
    await digest({ rate_limit: '44/30' }),
    await digest({ timezone: 'Europe/Berlin' }),
    await digest({ secret_file: OTHER_SECRET_FILE }),
    await digest({ pii: 'hash', pii_key_file: KEY_FILE }),
    await digest({}, { API_TIMEOUT_MS: '7' }),
  ];
  await writeFile(KEY_FILE, 'another key of 32 bytes, so it is');
  others.push(await digest({ pii: 'hash', pii_key_file: KEY_FILE }));
  await writeFile(SECRET_FILE, 'renewed\n');
  others.push(await digest({}));
  await writeFile(SECRET_FILE, 's3cret\n');
  expect(new Set([first, ...others]).size).toBe(others.length + 1);
  expect(first).not.toContain('s3cret');
});

test('the secret is read again from its file', async () => {
  const [listed] = await readAll({ acme: ACCESS });
  await writeFile(SECRET_FILE, 'renewed\n');
  expect(listed?.config.program.address.rereadSecret?.()).toBe('renewed');
  await writeFile(SECRET_FILE, 's3cret\n');
});

test('the file that a page shows is read', async () => {
  const shown = BLOCKS.filter(({ language }) => language === 'yaml').map(({ text }) => text);
  expect(shown.length).toBeGreaterThan(0);
  for (const text of shown) {
    const secret = text.replaceAll(/\/run\/secrets\/\w+/g, SECRET_FILE);
    expect((await read(secret, { BETA_API_SECRET: 'of-beta' })).length).toBeGreaterThan(1);
  }
});

describe('H in a schedule', () => {
  const cronOf = async (name: string, full_cron: string) =>
    (await readAll({ [name]: { ...ACCESS, full_cron } }))[0]?.config.program.schedules.full;

  test('is a number of the program, the same each time', async () => {
    const acme = await cronOf('acme', 'H 2 * * *');
    expect(acme).toMatch(/^[1-5]?\d 2 \* \* \*$/);
    expect(await cronOf('acme', 'H  2 * * *')).toBe(acme);
    expect(await cronOf('beta', 'H 2 * * *')).not.toBe(acme);
    expect(await cronOf('acme', 'H H H * * *')).toMatch(/^[1-5]?\d [1-5]?\d (?:1?\d|2[0-3]) \* \* \*$/);
  });

  test('spreads a hundred programs over the hour, and their hours over the day', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `client-${index}`);
    const programs = await readAll(
      Object.fromEntries(
        names.map((name) => [name, { ...ACCESS, url: `https://${name}.example`, full_cron: 'H H * * *' }]),
      ),
    );
    const fields = programs.map(({ config }) => config.program.schedules.full?.split(' ') ?? []);
    expect(new Set(fields.map(([minute]) => minute)).size).toBeGreaterThan(35);
    expect(new Set(fields.map(([, hour]) => hour)).size).toBeGreaterThan(18);
  });

  test.each(['0 2 H * *', '0 2 * * H', 'H/15 * * * *', 'h 2 * * *'])(
    'is refused as in %s',
    async (pattern) => {
      expect(await problemsOf(stringify({ programs: { acme: { ...ACCESS, full_cron: pattern } } }))).toEqual([
        expect.stringContaining('program acme: full_cron must be due at some time'),
      ]);
    },
  );
});

describe('A problem', () => {
  test('does not hide another: each has its place, and those of the environment are named once', async () => {
    const text = `programs:
  acme:
    url: http://api.example.com
    rate_limit: 45
    timeout_ms: '3'
    full_cron:
    pii: hash
  beta:
    url: https://u:p@api.example.com
    secret_file: ${SECRET_FILE}
    timezone: Mars/Olympus
    timezone: UTC
`;
    expect(await problemsOf(text, { LOG_LEVEL: 'loud', AFFILIATE_AMOUNT_UNIT: 'shells' })).toEqual([
      'AFFILIATE_AMOUNT_UNIT must be one of minor, cent, major',
      expect.stringContaining('LOG_LEVEL must be one of trace'),
      expect.stringContaining('FILE:2:3 program acme: secret_file is not there, nor secret_env: name a file'),
      expect.stringContaining('FILE:2:3 program acme: pii_key_file is not set, and pii=hash needs it'),
      expect.stringContaining('FILE:3:10 program acme: url must start with https://'),
      'FILE:4:17 program acme: rate_limit must be text',
      'FILE:5:17 program acme: timeout_ms must be a whole number, without quotation marks',
      'FILE:6:15 program acme: full_cron has no value: give one, or leave it out',
      'FILE:9:10 program beta: url must not hold credentials: put the secret into secret_file',
      'FILE:11:15 program beta: timezone must be the name of a time zone, such as Europe/Berlin',
      'FILE:12:5 program beta: timezone is there twice',
    ]);
  });

  test.each([
    ['', 'FILE:1:1 the file must be "programs:", with a program below it by its name'],
    ['- acme', 'FILE:1:1 the file must be "programs:", with a program below it by its name'],
    ['programs:', 'FILE:1:10 programs must have at least one program, by its name'],
    ['programs: {}', 'FILE:1:11 programs must have at least one program, by its name'],
    ['programs: [acme]', 'FILE:1:11 programs must have at least one program, by its name'],
    ['programs: {acme: }', 'FILE:1:18 program acme: must have keys, such as url and secret_file'],
    ['programs: {acme: [a]}', 'FILE:1:18 program acme: must have keys, such as url and secret_file'],
    [
      'programs: {a_b: {}}',
      'FILE:1:12 a name must be small letters, digits and hyphens, a letter first, at most 31',
    ],
    ['programs: {7: {}}', 'FILE:1:12 a name must be small letters'],
    ['programs: {[a]: {}}', 'FILE:1:12 a name must be small letters'],
    [`programs: {${'a'.repeat(32)}: {}}`, 'FILE:1:12 a name must be small letters'],
    ['programs: &a {acme: *a}', 'FILE:1:15 program acme: acme is not a key of a program: there are url, '],
    ['a: 1\n---\nb: 2', 'FILE:2:1 is no valid YAML: Source contains multiple documents'],
    ['programs:\n\tacme: 1', 'is no valid YAML: Tabs are not allowed as indentation'],
    [
      'programs:\n  acme:\n    delta_cron: */15 * * * *',
      'Quotation marks are needed around a value that begins with *',
    ],
    ['programs: {acme: !vault x}', 'FILE:1:18 is no valid YAML'],
  ])('%j: %s', async (text, problem) => {
    expect((await problemsOf(text)).join('\n')).toContain(problem);
  });

  test.each([
    [
      'database_url: x',
      'database_url is a setting of the process, not of a program: set DATABASE_URL in the environment',
    ],
    ['STATUS_PORT: 1', 'STATUS_PORT is a setting of the process, not of a program: set STATUS_PORT'],
    ['API_RATE_LIMIT: 1/2', 'API_RATE_LIMIT is not a key: write rate_limit'],
    ['SMTP_URL_FILE: /x', 'SMTP_URL_FILE is a setting of the process'],
    ['status_password: x', 'status_password is a setting of the process'],
    ['rate_limt: 1/2', 'rate_limt is not a key of a program: there are url, '],
    ['schema: ""', 'schema is empty: give a value, or leave it out'],
    ['schema: Mirror', 'schema must be a plain schema name'],
    ['schema: [a]', 'schema must be one value, not a list or a mapping'],
    ['timeout_ms: 0.5', 'timeout_ms must be a whole number'],
    ['timeout_ms: 600001', 'timeout_ms must be a whole number from 1 to 600000'],
    ['pii: none', 'pii must be one of plain, hash, omit'],
    ['pii_key_file: /nowhere/key', 'pii_key_file names /nowhere/key, which cannot be read (ENOENT'],
    ['secret_env: ACME_SECRET', 'secret_file and secret_env are both there: keep one of them'],
  ])('of the key in "%s" is: %s', async (line, problem) => {
    const text = `programs:\n  acme:\n    url: https://api.example.com\n    secret_file: ${SECRET_FILE}\n    ${line}\n`;
    expect(await problemsOf(text, { ACME_SECRET: 'x' })).toEqual([
      expect.stringMatching(/^FILE:5:\d+ program acme: /),
    ]);
    expect((await problemsOf(text, { ACME_SECRET: 'x' }))[0]).toContain(problem);
  });

  test.each([
    ['secret_file: /nowhere/secret', 'secret_file names /nowhere/secret, which cannot be read (ENOENT'],
    ['secret_env: NOT_SET', 'secret_env names a variable that is not set, or is empty'],
    ['secret_env: TWO_WORDS', 'secret_env holds a character that no API secret has'],
    ['schema: m', 'secret_file is not there, nor secret_env: name a file that holds the API secret'],
  ])('of the secret in "%s" is: %s', async (line, problem) => {
    const text = `programs:\n  acme:\n    url: https://api.example.com\n    ${line}\n`;
    expect(await problemsOf(text, { TWO_WORDS: 'two words' })).toEqual([expect.stringContaining(problem)]);
  });
});

describe('A secret in the file is refused, and not quoted', () => {
  test.each([
    `secret: ${TOKEN}`,
    `api_secret: ${TOKEN}`,
    `AFFILIATE_API_SECRET: ${TOKEN}`,
    `secret_file: ${TOKEN}`,
    `secret_env: ${TOKEN}`,
    `secret: [${TOKEN}]`,
    `secret: {${TOKEN}: 1}`,
    `secret: *${TOKEN}`,
    `secret: !${TOKEN} x`,
    `secret: "${TOKEN}`,
    `secret: "\\q${TOKEN}"`,
    `secret: | ${TOKEN}`,
    `secret: ${TOKEN}: x`,
    `"${TOKEN} x": 1`,
    `%${TOKEN}`,
  ])('%s', async (line) => {
    for (const access of ['url: https://api.example.com', `secret_file: ${SECRET_FILE}`]) {
      const problems = await problemsOf(`programs:\n  acme:\n    ${access}\n    ${line}\n`);
      expect(problems.length).toBeGreaterThan(0);
      expect(problems.join('\n')).not.toContain(TOKEN);
    }
  });

  test('whatever else is wrong with the file', async () => {
    const signs = fc.constantFrom(
      ...'*&!|>%@`"\'{}[],:#?- \n\t~<=',
      '\n  ',
      '\n    ',
      'secret: ',
      '---\n',
      '<<: ',
    );
    const pieces = fc.array(fc.oneof(signs, fc.constant(TOKEN), fc.constant('secret_file: ')), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const problems = await problemsOf(`programs:\n  acme:\n    ${parts.join('')}`);
        expect(problems.join('\n')).not.toContain(TOKEN);
      }),
      { numRuns: 500 },
    );
  });
});

describe('Two programs in one place are refused', () => {
  const at = (host: string, keys: object = {}) => ({ ...ACCESS, url: `https://${host}.example`, ...keys });
  const refusals = async (programs: object, environment?: Environment) =>
    problemsOf(stringify({ programs }), environment);

  test.each([
    [
      { a: at('a', { schema: 'm' }), b: at('b', { schema: 'm' }) },
      'program b: would use the schema m, which is a schema of program a: give it another',
    ],
    [
      { acme: at('a'), 'acme-reports': at('b') },
      'program acme-reports: would use the schema mirror_acme_reports, which is a schema of program acme',
    ],
    [
      { 'acme-reports': at('b'), acme: at('a') },
      'program acme: would use the schema mirror_acme_reports (by its schema mirror_acme), which is a schema of program acme-reports',
    ],
    [{ acme: at('a'), 'acme-queue': at('b') }, 'mirror_acme_queue'],
    [
      { queue: at('a') },
      'program queue: would use the schema mirror_queue, which is kept for what all programs share',
    ],
    [{ all: at('a') }, 'mirror_all, which is kept for what all programs share'],
    [
      { a: at('a', { schema: 'mirror' }), reports: at('b') },
      'mirror_reports, which is a schema of program a',
    ],
  ])('%j', async (programs, problem) => {
    expect(await refusals(programs)).toEqual([expect.stringContaining(problem)]);
  });

  test('by schemas, but not where another base keeps them apart', async () => {
    expect(await refusals({ queue: at('a', { schema: 'mirror_queue' }) }, { MIRROR_SCHEMA: 'copy' })).toEqual(
      [],
    );
  });

  test('by address and secret, however they are written', async () => {
    const acme = at('one');
    const same = { url: 'https://ONE.example/', secret_env: 'SAME' };
    expect(await refusals({ acme, beta: same, gamma: at('two') }, { SAME: 's3cret' })).toEqual([
      expect.stringMatching(/^FILE:\d+:3 program beta: has the address and the secret of program acme$/),
    ]);
    expect(await refusals({ acme, beta: same }, { SAME: 'another' })).toEqual([]);
  });

  test('but for a program of before, whose schema is the base', async () => {
    expect(await refusals({ first: at('a', { schema: 'mirror' }), second: at('b') })).toEqual([]);
  });
});
