// The containers are set up with variables that the program knows, and what they keep outlives them.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VARIABLES } from '../src/config/variables.ts';

const COMPOSE = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');

test('every variable that is handed to the program is one of its own', () => {
  const block = /environment: &environment\n((?: {4}.*\n)+)/.exec(COMPOSE)?.[1] ?? '';
  const names = [...block.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name]) => name);
  expect(names).toContain('REDIS_URL');
  expect(VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

test('Redis evicts nothing and writes down what it is told', () => {
  expect(COMPOSE).toMatch(/redis-server, --appendonly, 'yes', .*--maxmemory-policy, noeviction/);
});

test('no secret stands in the file: each is read from a file of its own', () => {
  expect(COMPOSE).not.toMatch(/(PASSWORD|SECRET): /);
});
