// Every JSON document that has a published schema, by the name of its file in docs/schemas/.

import { z } from 'zod';
import { alertsDocument } from '../../src/cli/documents/alerts.ts';
import {
  batchesDocument,
  dryRunDocument,
  requestsDocument,
  revisedDocument,
  trackedDocument,
} from '../../src/cli/documents/commissions.ts';
import { acceptedDocument, heldBackDocument } from '../../src/cli/documents/deletions.ts';
import { doctorDocument } from '../../src/cli/documents/doctor.ts';
import { migrateDocument } from '../../src/cli/documents/migrate.ts';
import { receiptDocument, switchedDocument } from '../../src/cli/documents/personal-data.ts';
import { reconcileDocument } from '../../src/cli/documents/reconcile.ts';
import { statusDocument } from '../../src/cli/documents/status.ts';
import { syncDocument } from '../../src/cli/documents/sync.ts';
import { manifest } from '../../src/exports/manifest.ts';

export const DOCUMENTS: Readonly<Record<string, z.ZodType>> = {
  sync: syncDocument,
  status: statusDocument,
  doctor: doctorDocument,
  migrate: migrateDocument,
  export: manifest,
  'alerts-list': alertsDocument,
  'deletions-list': heldBackDocument,
  'deletions-accept': acceptedDocument,
  'personal-data-switch': switchedDocument,
  forget: receiptDocument,
  'commissions-dry-run': dryRunDocument('minor'),
  'commissions-requests': requestsDocument('minor'),
  'commissions-batches': batchesDocument,
  'commissions-reconcile': reconcileDocument('minor'),
  'commissions-retry-cancel': revisedDocument,
  'commissions-track': trackedDocument,
};

/** Returns the JSON schema (draft 2020-12) of the document, as text for a file. */
export function describeDocument(document: z.ZodType): string {
  const schema = z.toJSONSchema(document, {
    override: ({ jsonSchema }) => {
      // Of arrays that our code does not change: nothing to those who read the document.
      delete jsonSchema.readOnly;
      // Long, and said by the format.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      // Bounds of the language, not of the figure.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return `${JSON.stringify(schema, null, 2)}\n`;
}
