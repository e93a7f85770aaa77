// Which records are read and which are refused the plain way, against their whole schema.

const RECORDS = sized(100, 500);

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { RESOURCES } from '../../src/contract/resources.ts';
import { readPlain } from '../../src/decode/plain-reader.ts';
import { findUnstorable } from '../../src/decode/unstorable.ts';
import { LISTED_RECORDS } from '../contract/listed-records.ts';
import { mutated, ODD_VALUES } from '../contract/mutated-records.ts';
import { sized } from '../support/sizes.ts';

describe.each(LISTED_RECORDS)('a record of $resource', ({ resource, records, build }) => {
  const { schema }: { schema: z.ZodObject } = RESOURCES[resource];

  /** Returns whether it is read, which it is where its whole schema accepts it and Postgres can hold all of it. */
  function expectVerdict(record: unknown): boolean {
    const isRead = 'rows' in readPlain(null, resource, record, 0);
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
});
