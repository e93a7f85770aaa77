// Which records are read and which are refused, by the fast path and by the schema.

const RECORDS = sized(100, 500);

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { RESOURCES } from '../../src/contract/resources.ts';
import { makeDriftWatch } from '../../src/records/drift-watch.ts';
import { makeLoadedCache } from '../../src/records/loaded-cache.ts';
import { readRecord } from '../../src/records/read-record.ts';
import { findUnstorable } from '../../src/records/unstorable.ts';
import { LISTED_RECORDS } from '../contract/listed-records.ts';
import { mutated, mutatedBeside, ODD_VALUES } from '../contract/mutated-records.ts';
import { sized } from '../support/sizes.ts';

const plainDeps = () => ({ cache: null, drift: null });

describe.each(LISTED_RECORDS)('a record of $resource', ({ resource, records, build }) => {
  const { schema }: { schema: z.ZodObject } = RESOURCES[resource];

  /** Returns whether it is read, which it is where its whole schema accepts it and Postgres can hold all of it. */
  function expectVerdict(record: unknown): boolean {
    const isRead = 'rows' in readRecord(plainDeps(), resource, record, 0);
    const fits = schema.safeParse(record).success && findUnstorable(record) === null;
    expect({ record, isRead }).toEqual({ record, isRead: fits });
    return isRead;
  }

  test('is read exactly where its whole schema accepts it and Postgres can hold all of it', () => {
    let read = 0;
    let refused = 0;
    fc.assert(
      fc.property(mutated(records), (record) => {
        if (expectVerdict(record)) read += 1;
        else refused += 1;
      }),
      { numRuns: RECORDS },
    );
    // Otherwise nothing above was tested.
    expect(Math.min(read, refused)).toBeGreaterThan(RECORDS / 5);
  });

  test('is read or refused so with each odd value in each field', () => {
    for (const field of [...Object.keys(schema.shape), 'odd']) {
      for (const value of ODD_VALUES) expectVerdict(build({ [field]: value }));
    }
  });

  /** The run has met what is nested in it in another record, and remembers it. */
  function expectTheSameAfter(met: unknown, record: unknown, observedAt: number): void {
    const deps = { cache: makeLoadedCache(), drift: makeDriftWatch() };
    readRecord(deps, resource, met, 0);
    for (let time = 0; time < 2; time += 1) {
      const { rows: left, ...verdict } = { rows: [], ...readRecord(deps, resource, record, observedAt) };
      const { rows, ...expected } = { rows: [], ...readRecord(plainDeps(), resource, record, observedAt) };
      expect({ record, verdict }).toEqual({ record, verdict: expected });
      // Its own row is made each time; only nested ones are remembered.
      expect(left[0]).toEqual(rows[0]);
    }
  }

  test('is read or refused alike where the run has met what is nested in it, the same or otherwise', () => {
    fc.assert(
      fc.property(mutatedBeside(records), fc.constantFrom(-1, 0, 1), ([met, record], observedAt) =>
        expectTheSameAfter(met, record, observedAt),
      ),
      { numRuns: RECORDS },
    );
  });

  test('is read or refused so with each odd value in each field of what is nested in it', () => {
    const met = build();
    for (const [field, nested] of Object.entries(met)) {
      if (nested === null || typeof nested !== 'object' || !('id' in nested)) continue;
      for (const name of [...Object.keys(nested), 'odd']) {
        for (const value of ODD_VALUES) {
          const record = { ...met, [field]: { ...nested, [name]: value } };
          for (const observedAt of [-1, 1]) expectTheSameAfter(met, record, observedAt);
        }
      }
    }
  });
});
