// Writes the dashboard for Grafana anew: `npm run dashboard`.

import { writeFileSync } from 'node:fs';
import { DASHBOARD_FILE, describeDashboard } from './dashboard.ts';

writeFileSync(DASHBOARD_FILE, describeDashboard());
