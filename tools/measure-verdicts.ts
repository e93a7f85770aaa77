// Measures what a verified walk can miss: how many of some thousand walks over changing lists missed a record that
// existed throughout, and were verified all the same. Run: node tools/measure-verdicts.ts [walks]
//
// Two programs. Moving: the lists of crawl.unit.test.ts, short, with up to three changes before each answer. Steady:
// 500 records in pages of 20; before one answer in ten a record is created and another deleted, so that the total never
// moves: the worst case for a walk that relies on totals.

import fc from 'fast-check';
import { type Change, type ListCase, listCases, makeMovingList } from '../test/support/moving-list.ts';
import { crawl } from '../test/support/walks.ts';

const WALKS = Number(process.argv[2] ?? 5000);
const SEED = 20_261_121;
const CHANGED_ANSWERS = 0.1;
/** Of the insertions, where some are back-dated. */
const BACK_DATED = 0.2;

function makeSteady(walk: number, isBackDated: boolean): ListCase {
  let state = SEED + walk;
  // Mulberry32.
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const change = (): Change[] => {
    if (random() > CHANGED_ANSWERS) return [];
    return random() < (isBackDated ? BACK_DATED : 0)
      ? [
          { kind: 'insert-back-dated', at: random() },
          { kind: 'delete', at: random() },
        ]
      : [{ kind: 'insert-at-head' }, { kind: 'delete', at: random() }];
  };
  const changes = Array.from({ length: 500 }, change);
  return { size: 500, limit: 20, maximumLimit: 20, movingAnswers: 500, changes };
}

async function measure(cases: readonly ListCase[]) {
  const figures = { verified: 0, missed: 0 };
  for (const given of cases) {
    const list = makeMovingList(given);
    const { verified } = await crawl(list, { limit: given.limit, resumeFrom: null, head: 'always' });
    if (!verified) continue;
    figures.verified += 1;
    if (list.missed().length > 0) figures.missed += 1;
  }
  return figures;
}

for (const insertions of ['at-head', 'anywhere'] as const) {
  const programs = {
    moving: fc.sample(listCases(insertions), { numRuns: WALKS, seed: SEED }),
    steady: Array.from({ length: WALKS }, (_, walk) => makeSteady(walk, insertions === 'anywhere')),
  };
  for (const [program, cases] of Object.entries(programs)) {
    const { verified, missed } = await measure(cases);
    process.stdout.write(
      `a ${program} program, insertions ${insertions}: ` +
        `of ${WALKS} walks ${verified} were verified, and ${missed} of these missed a record\n`,
    );
  }
}
