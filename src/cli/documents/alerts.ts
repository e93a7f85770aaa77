// The document of `alerts list --json`.

import { z } from 'zod';
import { alert } from '../../reports/read-alerts.ts';

export const alertsDocument = z
  .object({ alerts: z.array(alert).readonly().describe('the open ones first, then the newest') })
  .meta({ title: 'affiliate-mirror alerts list --json' });

export type AlertsDocument = z.infer<typeof alertsDocument>;
