// The fields of every resource, sorted, as the tables of docs/api-contract.md have them: the sandbox is compared with
// the document, not with the code that reads it.

import { readTable } from '../support/read-docs.ts';

const BARE = ['Field', 'Type'];
const NOTED = [...BARE, 'Notes'];

function fieldsOf(resource: string, header: readonly string[]): string[] {
  return readTable('docs/api-contract.md', resource, header)
    .map(([field = '']) => field)
    .toSorted();
}

export const CAMPAIGN_FIELDS = fieldsOf('Campaign', BARE);

export const CUSTOMER_FIELDS = fieldsOf('Customer', NOTED);

export const LINK_FIELDS = fieldsOf('Link', BARE);

/** Without `campaign`, which a list shows by expansion only. */
export const AFFILIATE_FIELDS = fieldsOf('Affiliate', NOTED).filter((field) => field !== 'campaign');

export const REFERRAL_FIELDS = fieldsOf('Referral', NOTED);

export const SALE_FIELDS = fieldsOf('Sale', NOTED);

export const COMMISSION_FIELDS = fieldsOf('Commission', NOTED);
