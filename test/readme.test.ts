// Holds the README to the program: its configuration, its exit codes and its errors, both ways.

import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../src/cli/exit-code.ts';
import { VARIABLES } from '../src/config/variables.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test("the README's table of variables is the program's", () => {
  expect(readTable('Configuration', ['variable', 'meaning', 'default'])).toEqual(
    VARIABLES.map((variable) => [`\`${variable.name}\``, variable.meaning, variable.default]),
  );
});

test("the README's table of exit codes is the program's", () => {
  expect(readTable('Exit codes', ['code', 'meaning'])).toEqual(
    EXIT_CODES.map(({ code, meaning }) => [`\`${code}\``, meaning]),
  );
});

test("the README's table of errors names every error of the catalogue and no other", () => {
  const codes = readTable('Errors', ['code', 'meaning']).map(([code]) => code);
  expect(codes.toSorted()).toEqual(
    readErrorCodes()
      .map((code) => `\`${code}\``)
      .toSorted(),
  );
});

/** Gives back the cells of the table that has this header, in the section of that heading. */
function readTable(heading: string, header: readonly string[]): string[][] {
  const section = README.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n');
  const start = lines.indexOf(`| ${header.join(' | ')} |`);
  expect(start, `README.md needs the table | ${header.join(' | ')} | under "${heading}"`).not.toBe(-1);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end === -1 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function readErrorCodes(): string[] {
  const text = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8');
  return parseAst(text, { lang: 'ts' }).body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration?.type !== 'ClassDeclaration')
      return [];
    return statement.declaration.body.body.flatMap((member) =>
      member.type === 'PropertyDefinition' &&
      member.key.type === 'Identifier' &&
      member.key.name === 'code' &&
      member.value?.type === 'Literal'
        ? [String(member.value.value)]
        : [],
    );
  });
}
