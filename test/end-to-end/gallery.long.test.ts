// The gallery of the analysts' page: every question is asked of the demo's data, and answered as the page prints it.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  answer,
  GALLERY_PAGE,
  readGallery,
  seedProgramOfPage,
  withAnswers,
} from '../../tools/gallery/gallery.ts';
import { createTestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

test('each question has the answer that the page prints (npm run docs writes them anew)', async () => {
  const page = readFileSync(GALLERY_PAGE, 'utf8');
  const questions = readGallery(page);
  expect(questions).toHaveLength(6);
  const { url, pool } = await createTestDatabase();
  await pool.query('drop schema mirror, mirror_reports cascade');
  await seedProgramOfPage(pool);
  expect((await runCli(['demo', '--once'], { DATABASE_URL: url })).code).toBe(0);
  const answers: string[] = [];
  for (const question of questions) answers.push(await answer(pool, question));
  expect(questions.map(({ title }, index) => `${title}\n${answers[index]}`)).toEqual(
    questions.map((question) => `${question.title}\n${question.answer}`),
  );
  expect(withAnswers(page, answers)).toBe(page);
});

test('no question depends on the day on which it is asked', () => {
  for (const { query } of readGallery(readFileSync(GALLERY_PAGE, 'utf8'))) {
    expect(query).not.toMatch(/now\(\)|current_|payouts_due|freshness|is_payable/);
  }
});
