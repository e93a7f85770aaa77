// The words of comments, messages, pages and table comments: a sentence names who acts (the worker, the command, another
// process, the caller, the user).

import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT } from './support/read-docs.ts';

const TEXTS = ['src/**/*.ts', 'migrations/**/*.sql', 'docs/**/*.{md,yml,yaml,json,service}', '*.md'];
const WITHOUT_ACTOR = /\b(?:somebody|nobody|whoever|whatever|anybody)\b/i;

test('no sentence hides who acts behind somebody, nobody, whoever, whatever or anybody', () => {
  const lines = globSync(TEXTS, { cwd: ROOT }).flatMap((file) =>
    readFileSync(`${ROOT}/${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) => (WITHOUT_ACTOR.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(lines).toEqual([]);
});

test('a page is one of a list: the status page has views and sections', () => {
  const files = globSync(['src/web/**/*.{ts,js,css}', 'docs/status-page.md'], { cwd: ROOT });
  const lines = files
    .filter((file) => !file.endsWith('/pager.ts'))
    .flatMap((file) => {
      const isProse = file.endsWith('.md') ? /^/ : /^\s*(?:\/\/|\/?\*)/;
      const said = readFileSync(`${ROOT}/${file}`, 'utf8')
        .split('\n')
        .filter((line) => isProse.test(line));
      return said
        .map((line) => line.replaceAll(/(?:status|web)[ -]page|images\/page/gi, ''))
        .flatMap((line) => (/\bpages?\b/i.test(line) ? [`${file}: ${line.trim()}`] : []));
    });
  expect(lines).toEqual([]);
});
