// A model of the mirror as a map, kept by the rules of a full run: what was met exists, what a verified walk did not
// meet is looked for, and what is not found is marked deleted.

import type { Verdict } from '../../src/crawl/crawl.ts';
import { overlapStart } from '../../src/crawl/overlap-walk.ts';
import { crawl, type List } from './walks.ts';

/** The list that is mirrored; `find` is the filter that leads to one row. */
export interface ModelList {
  readonly listPage: List['listPage'];
  readonly find: (id: string) => Promise<boolean>;
}

export interface ModelMirror {
  /** One full run. */
  sync(options: { limit: number }): Promise<Verdict>;
  readonly living: () => string[];
  readonly deleted: () => string[];
}

/** Few, so that short lists are read a second time too. */
const HANDFUL = 2;

/** Returns the empty mirror of a list. */
export function makeModelMirror(list: ModelList): ModelMirror {
  const isDeleted = new Map<string, boolean>();

  async function walk({ limit, isExact }: { limit: number; isExact: boolean }) {
    const seen = new Set<string>();
    const verdict = await crawl(
      {
        listPage: list.listPage,
        async load(pages) {
          const before = seen.size;
          for (const id of pages.flatMap((page) => page.ids)) if (id !== null) seen.add(id);
          for (const id of seen) isDeleted.set(id, false);
          return { distinct: seen.size, fresh: seen.size - before };
        },
      },
      { limit, resumeFrom: isExact ? overlapStart(limit) : null, head: 'always' },
    );
    return { seen, verdict };
  }

  const idsThatAre = (deleted: boolean) =>
    [...isDeleted].filter(([, is]) => is === deleted).map(([id]) => id);

  async function findGone(missing: readonly string[], limit: number): Promise<string[]> {
    if (missing.length > HANDFUL) {
      const { seen, verdict } = await walk({ limit, isExact: true });
      return verdict.verified ? missing.filter((id) => !seen.has(id)) : [];
    }
    const gone: string[] = [];
    for (const id of missing) if (!(await list.find(id))) gone.push(id);
    return gone;
  }

  return {
    async sync({ limit }) {
      const before = idsThatAre(false);
      const { seen, verdict } = await walk({ limit, isExact: false });
      if (verdict.verified) {
        const missing = before.filter((id) => !seen.has(id));
        for (const id of await findGone(missing, limit)) isDeleted.set(id, true);
      }
      return verdict;
    },
    living: () => idsThatAre(false).sort(),
    deleted: () => idsThatAre(true).sort(),
  };
}
