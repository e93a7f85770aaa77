// The resources that are listed, each with arbitrary records of it and a usual one.

import type { Arbitrary } from 'fast-check';
import type { ListedResource } from '../../src/contract/resources.ts';
import { buildAffiliate, buildCommission, buildPayout, buildReferral } from '../mirror/build-records.ts';
import { affiliates, commissions, payouts, referrals, type WireRecord } from './arbitrary-records.ts';

export interface ListedRecords {
  readonly resource: ListedResource;
  readonly records: Arbitrary<WireRecord>;
  readonly build: (fields?: object) => object;
}

export const LISTED_RECORDS: readonly ListedRecords[] = [
  { resource: 'affiliates', records: affiliates, build: buildAffiliate },
  { resource: 'referrals', records: referrals, build: buildReferral },
  { resource: 'commissions', records: commissions, build: buildCommission },
  { resource: 'payouts', records: payouts, build: buildPayout },
];
