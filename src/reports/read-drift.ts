// Where the program's records differ from their contract, as the runs since everything was last read saw them: the
// report contract_drift.

import { z } from 'zod';
import { count, driftKind, resource, text } from './fields.ts';
import { figureOf } from './figure.ts';

export const drift = z.object({
  run_id: count('the last run that noticed it'),
  resource,
  field: text('the field, with the names of the objects around it'),
  kind: driftKind,
  found: text('an example of the type that was found').nullable(),
  occurrences: count(
    'how often it was noticed: once for each record, and again where the run read the record again',
  ),
});

export type Drift = z.infer<typeof drift>;

/** A row for each resource, field and kind of difference. */
export const readDrift = figureOf('contract_drift', drift, 'order by resource, field, kind');
