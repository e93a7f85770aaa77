// How a page's identifiers compare with those of the mirror, on rows that were loaded directly.

import { beforeEach, describe, expect, test } from 'vitest';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { compareSpelling, describeRespelled, findRespelled } from '../../src/mirror/respelled-ids.ts';
import { type ReadPages, readPages } from '../../src/records/read-page.ts';
import { makeSpellingCheck, RespelledIds } from '../../src/sync/spelling-check.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildAffiliate, buildReferral } from './build-records.ts';
import { at, load } from './load.ts';

const resource = 'referrals';

let db: Database;

beforeEach(async () => {
  db = makeDatabase((await createTestDatabase()).pool);
});

const affiliate = buildAffiliate();
const known = Array.from({ length: 4 }, () => buildReferral({ affiliate, link: null }));
const [first = buildReferral()] = known;

interface Spelled {
  readonly id: string;
}

const inCapitals = <T extends Spelled>(record: T): T => ({ ...record, id: record.id.toUpperCase() });

function pageOf(...records: readonly object[]): ReadPages {
  return readPages({ cache: null, drift: null }, resource, [{ observedAt: at(2), records }]);
}

const store = (...records: readonly object[]) =>
  load(db, { resource, pages: [{ observedAt: at(1), records }] });

const compare = (...records: readonly object[]) => compareSpelling(db, resource, pageOf(...records));

const newRecord = () => buildReferral({ affiliate: null, link: null });

describe('a page', () => {
  test('settles nothing where the mirror has other records only, and all where it has none at all', async () => {
    expect(await compare(newRecord())).toEqual({ respelled: null, isSettled: true });
    await store(first);
    expect(await compare(newRecord())).toEqual({ respelled: null, isSettled: false });
    expect(await compare(newRecord(), first)).toEqual({ respelled: null, isSettled: true });
  });

  test('of whose records most have another case than in the mirror is named with one of them', async () => {
    await store(...known);
    const respelled = { table: resource, id: first.id.toUpperCase(), known: first.id };
    expect(await compare(inCapitals(first), newRecord())).toEqual({ respelled, isSettled: true });
    const [, second = first, third = first] = known;
    expect(await compare(inCapitals(first), inCapitals(second), third)).toMatchObject({
      respelled,
    });
    // As many as are spelled as before: those records concern themselves alone.
    expect(await compare(inCapitals(first), second)).toEqual({ respelled: null, isSettled: true });
  });

  test('is compared from capitals to lower case as well', async () => {
    await store(...known.map(inCapitals));
    expect(await compare(first)).toMatchObject({
      respelled: { table: resource, id: first.id, known: first.id.toUpperCase() },
    });
  });

  test('names a nested record where its own are new', async () => {
    await store(first);
    const nested = { ...newRecord(), affiliate: inCapitals(affiliate) };
    expect(await compare(nested)).toMatchObject({
      respelled: { table: 'affiliates', id: affiliate.id.toUpperCase(), known: affiliate.id },
    });
    // A record of the page itself is named first.
    expect(await compare({ ...inCapitals(first), affiliate: inCapitals(affiliate) })).toMatchObject({
      respelled: { table: resource },
    });
  });

  test('that the mirror has in both cases is not in another case', async () => {
    await store(first, inCapitals(first));
    expect(await compare(first)).toEqual({ respelled: null, isSettled: true });
    expect(await compare(inCapitals(first))).toEqual({ respelled: null, isSettled: true });
    expect(await findRespelled(db, pageOf(first))).toBeNull();
  });
});

test('of records that are read one by one a single one in another case is found, a nested one too', async () => {
  await store(...known);
  const [, second = first] = known;
  expect(await findRespelled(db, pageOf(first, ...known))).toBeNull();
  expect(await findRespelled(db, pageOf())).toBeNull();
  expect(await findRespelled(db, pageOf(second, inCapitals(first)))).toEqual({
    table: resource,
    id: first.id.toUpperCase(),
    known: first.id,
  });
  expect(await findRespelled(db, pageOf({ ...newRecord(), affiliate: inCapitals(affiliate) }))).toMatchObject(
    { table: 'affiliates' },
  );
});

describe('the check of a run', () => {
  test('asks until a page shows a record that the mirror knows, and then no more', async () => {
    await store(...known);
    const check = makeSpellingCheck(db, resource);
    await check.check([pageOf(newRecord()), pageOf(newRecord())]);
    const capitals = pageOf(...known.map(inCapitals));
    await expect(makeSpellingCheck(db, resource).check([pageOf(newRecord()), capitals])).rejects.toThrow(
      new RespelledIds(
        `${describeRespelled({ table: resource, id: first.id.toUpperCase(), known: first.id })}; every such record ` +
          'would become a second row, so nothing was written. Have the program spell them as before, or mirror it ' +
          'into a schema of its own (MIRROR_SCHEMA)',
      ),
    );
    await expect(check.check([capitals])).rejects.toThrow(RespelledIds);
    const settled = makeSpellingCheck(db, resource);
    await settled.check([pageOf(first)]);
    await settled.check([capitals]);
  });
});
