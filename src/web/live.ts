// What open views ask for every few seconds, and the script that asks. The mark of a program costs one query of its
// database, which serves all of its open views; that of the list of programs costs none.

import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { memoize } from '../base/memoize.ts';
import type { Database } from '../db/database.ts';
import { readChangeMark } from '../reports/read-change-mark.ts';
import { LIVE_SCRIPT } from './assets.ts';
import type { FindProgram } from './find-program.ts';
import type { PageProgram, StatusPageDeps } from './status-page.ts';

/** The script asks for the mark beside itself: each program has both below its own root. */
export function addLive(
  site: FastifyInstance,
  { programs, fileProblems }: Pick<StatusPageDeps, 'programs' | 'fileProblems'>,
  { isListed, find }: { readonly isListed: boolean; readonly find: FindProgram },
): void {
  const readMark = makeReadMark();
  for (const root of isListed ? ['', '/p/:program'] : ['']) {
    site.get(`${root}/live.js`, (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').send(LIVE_SCRIPT),
    );
  }
  site.get(isListed ? '/p/:program/live' : '/live', async (request, reply) => {
    const program = find(request);
    reply.type('text/plain');
    return program === null ? reply.code(404).send(GONE) : reply.send(await readMark(program));
  });
  if (!isListed) return;
  site.get('/live', async (_request, reply) =>
    reply.type('text/plain').send(markOf(programs(), fileProblems())),
  );
}

const AWAY = 'the database does not answer';
const GONE = 'there is no such program';

const MARK_FRESH_MS = 500;

function makeReadMark(): (program: PageProgram) => Promise<string> {
  const readers = new WeakMap<Database, () => Promise<string>>();
  return async ({ condition, viewDeps: { db } }) => {
    // A mark as well: open views reload when the database goes away, and when it is back.
    const read =
      readers.get(db) ??
      memoize(
        () => readChangeMark(db).catch(() => AWAY),
        () => MARK_FRESH_MS,
      );
    readers.set(db, read);
    return condition.state === 'paused' ? `paused ${await read()}` : await read();
  };
}

/** Returns the mark of the list. Ages, which grow by themselves, are no part of it. */
function markOf(programs: readonly PageProgram[], problems: readonly string[]): string {
  const shown = programs.map(({ name, condition, readFigures }) => {
    const figures = readFigures();
    const summary = figures?.summary;
    return [name, condition, { ...summary, age_seconds: null }, figures?.error != null];
  });
  return createHash('sha256')
    .update(JSON.stringify([shown, problems]))
    .digest('base64');
}
