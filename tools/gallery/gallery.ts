// The gallery of docs/analysts.md: questions, each with its SQL and the answer that the demo's data give.

import { join } from 'node:path';
import { PROGRAM_SCHEMA } from '../../src/cli/commands/demo.ts';
import { DEFAULT_SIZE } from '../../src/cli/commands/sandbox.ts';
import { runExample } from '../../src/cli/demo/tour.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { prepareSchema } from '../../src/sandbox/prepare-schema.ts';
import { ROOT } from '../../test/support/read-docs.ts';

export const GALLERY_PAGE = join(ROOT, 'docs/analysts.md');

export interface Question {
  readonly title: string;
  readonly query: string;
  /** As the page prints it. */
  readonly answer: string;
}

const HEADING = '## Gallery\n';
const QUESTION = /^\*\*\d+\. (.+)\*\*[^`]*```sql\n([^`]+)```\n\n```\n([^`]*)```$/gm;

/** Makes the program that the next demo finds as an earlier one's, of the day of which the page gives the answers. */
export async function seedProgramOfPage(pool: Pool): Promise<void> {
  await prepareSchema({ pool }, PROGRAM_SCHEMA, { ...DEFAULT_SIZE, spelling: 'live' }, false);
}

/** Returns the questions of the page, in their order. */
export function readGallery(page: string): Question[] {
  return [...sectionOf(page).matchAll(QUESTION)].map(([, title = '', query = '', answer = '']) => ({
    title,
    query,
    answer: answer.trimEnd(),
  }));
}

/** Returns the answer as the page prints it. */
export async function answer(pool: Pool, { query }: Pick<Question, 'query'>): Promise<string> {
  const table = await runExample(pool, { query });
  return table.replace(/ +$/gm, '');
}

/** Returns the page with these answers, in the order of its questions. */
export function withAnswers(page: string, answers: readonly string[]): string {
  const section = sectionOf(page);
  let place = -1;
  const answered = section.replace(QUESTION, (whole, _title, query: string) => {
    place += 1;
    const head = whole.slice(0, whole.indexOf(query) + query.length);
    return `${head}\`\`\`\n\n\`\`\`\n${answers[place]}\n\`\`\``;
  });
  return page.replace(section, () => answered);
}

function sectionOf(page: string): string {
  const start = page.indexOf(HEADING);
  if (start === -1) throw new Error(`${GALLERY_PAGE} has no section "Gallery"`);
  const next = page.indexOf('\n## ', start);
  return page.slice(start, next === -1 ? undefined : next);
}
