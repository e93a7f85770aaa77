// The dashboard for Grafana, as code: every panel, and the expression behind it. `npm run docs` writes it to
// docs/deploy/grafana/affiliate-mirror.json.
//
// All workers of a mirror report the same of the database, so those panels take the highest; what each counted itself
// is added up. Of several programs a panel shows the worst, or the sum. Without PROGRAMS_FILE no series has the label
// program: `.*`, the choice of all programs, fits that as well.

import {
  BigValueColorMode,
  StackingConfigBuilder,
  StackingMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { ROOT } from '../../test/support/read-docs.ts';

export const DASHBOARD_FILE = `${ROOT}/docs/deploy/grafana/affiliate-mirror.json`;

/** The worker, its queue and its database. */
const JOB = 'job="$job"';
/** The programs that are looked at. */
const OF = `${JOB}, program=~"$program"`;
const SOURCE = { type: 'prometheus', uid: '$datasource' };

/** Grafana's grid has 24 columns. */
const HALF = 12;
const SIXTH = 4;

interface Query {
  readonly expr: string;
  readonly legend: string;
}

function toQuery({ expr, legend }: Query): DataqueryBuilder {
  return new DataqueryBuilder().expr(expr).legendFormat(legend).datasource(SOURCE);
}

interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
}

/** One figure, red from `bad` on. */
function figure(panel: Panel, query: Query, bad: number): StatBuilder {
  return new StatBuilder()
    .title(panel.title)
    .description(panel.description)
    .unit(panel.unit)
    .datasource(SOURCE)
    .span(SIXTH)
    .height(4)
    .colorMode(BigValueColorMode.Background)
    .noValue('none')
    .thresholds(
      new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
        { value: null, color: 'green' },
        { value: bad, color: 'red' },
      ]),
    )
    .withTarget(toQuery(query));
}

/** Lines over time. */
function lines(panel: Panel, ...queries: readonly Query[]): TimeseriesBuilder {
  const builder = new TimeseriesBuilder()
    .title(panel.title)
    .description(panel.description)
    .unit(panel.unit)
    .datasource(SOURCE)
    .min(0)
    .span(HALF)
    .height(8);
  for (const query of queries) builder.withTarget(toQuery(query));
  return builder;
}

/** Areas on top of each other, over time. */
function stacked(panel: Panel, ...queries: readonly Query[]): TimeseriesBuilder {
  return lines(panel, ...queries)
    .fillOpacity(40)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
}

/** Returns the dashboard as Grafana imports it. */
export function buildDashboard(): Dashboard {
  return new DashboardBuilder('affiliate-mirror')
    .uid('affiliate-mirror')
    .description('Made by "npm run docs" of affiliate-mirror: change it there. Metrics: docs/metrics.md.')
    .tags(['affiliate-mirror'])
    .timezone('utc')
    .time({ from: 'now-24h', to: 'now' })
    .refresh('1m')
    .readonly()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(
      new QueryVariableBuilder('job')
        .label('Mirror')
        .datasource(SOURCE)
        .query('label_values(affiliate_mirror_build_info, job)')
        .refresh(VariableRefresh.OnTimeRangeChanged),
    )
    .withVariable(
      new QueryVariableBuilder('program')
        .label('Program')
        .datasource(SOURCE)
        .query(`label_values(affiliate_mirror_program_serving{${JOB}}, program)`)
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .includeAll(true)
        .allValue('.*')
        .multi(true),
    )
    .withRow(new RowBuilder('Is all well?'))
    .withPanel(
      figure(
        { title: 'Concerns', description: 'Faults that "affiliate-mirror status" finds.', unit: 'short' },
        { expr: `sum(max by (program, code) (affiliate_mirror_concern{${OF}}))`, legend: 'concerns' },
        1,
      ),
    )
    .withPanel(
      figure(
        {
          title: 'Age of the mirror',
          description: 'Age of the oldest resource, as a part of the age from which it is stale.',
          unit: 'percentunit',
        },
        {
          expr: `max(affiliate_mirror_freshness_age_seconds{${OF}}) / max(affiliate_mirror_stale_after_seconds{${JOB}})`,
          legend: 'age',
        },
        1,
      ),
    )
    .withPanel(
      figure(
        {
          title: 'Secret refused',
          description: '1 while the API refuses the secret, which pauses all workers.',
          unit: 'short',
        },
        { expr: `max(affiliate_mirror_secret_refused{${OF}})`, legend: 'refused' },
        1,
      ),
    )
    .withPanel(
      figure(
        {
          title: 'Failed payments',
          description: 'Without a newer one for the same value of their commission.',
          unit: 'short',
        },
        { expr: `sum(max by (program) (affiliate_mirror_payments_failed{${OF}}))`, legend: 'failed' },
        1,
      ),
    )
    .withPanel(
      figure(
        { title: 'Held-back deletions', description: 'Not accepted yet.', unit: 'short' },
        {
          expr: `sum(max by (program, resource) (affiliate_mirror_held_back_deletions{${OF}}))`,
          legend: 'held back',
        },
        1,
      ),
    )
    .withPanel(
      figure(
        {
          title: 'Workers that are cut off',
          description: 'That do not reach the database or the queue.',
          unit: 'short',
        },
        {
          expr: `count(affiliate_mirror_database_up{${JOB}} + affiliate_mirror_queue_up{${JOB}} < 2) or vector(0)`,
          legend: 'workers',
        },
        1,
      ),
    )
    .withPanel(
      lines(
        { title: 'Concerns', description: 'By code: docs/operations.md says what to do.', unit: 'short' },
        {
          expr: `sum by (code) (max by (program, code) (affiliate_mirror_concern{${OF}})) > 0`,
          legend: '{{code}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Workers', description: 'By version.', unit: 'short' },
        { expr: `count by (version) (affiliate_mirror_build_info{${JOB}})`, legend: '{{version}}' },
      ),
    )
    .withRow(new RowBuilder('Programs of PROGRAMS_FILE'))
    .withPanel(
      lines(
        { title: 'Programs', description: 'Those that a worker serves, and paused ones.', unit: 'short' },
        { expr: `sum(max by (program) (affiliate_mirror_program_serving{${OF}}))`, legend: 'served' },
        {
          expr: `max by (program, reason) (affiliate_mirror_program_paused{${OF}})`,
          legend: '{{program}}: {{reason}}',
        },
        {
          expr: `max(affiliate_mirror_programs_file_refused{${JOB}}) > 0`,
          legend: 'PROGRAMS_FILE is refused',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'The programs with the most concerns', description: 'Ten at most.', unit: 'short' },
        {
          expr: `topk(10, sum by (program) (max by (program, code) (affiliate_mirror_concern{${OF}})) > 0)`,
          legend: '{{program}}',
        },
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Oldest programs',
          description: 'Since the start of the last verified run; ten at most.',
          unit: 's',
        },
        {
          expr: `topk(10, max by (program) (affiliate_mirror_freshness_age_seconds{${OF}}))`,
          legend: '{{program}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Age of the figures', description: 'Of each listed program; ten at most.', unit: 's' },
        {
          expr: `topk(10, min by (program) (affiliate_mirror_figures_age_seconds{${OF}}))`,
          legend: '{{program}}',
        },
      ),
    )
    .withRow(new RowBuilder('Syncs'))
    .withPanel(
      lines(
        { title: 'Age', description: 'Since the start of the last verified run.', unit: 's' },
        {
          expr: `max by (resource) (affiliate_mirror_freshness_age_seconds{${OF}})`,
          legend: '{{resource}}',
        },
        {
          expr: `max by (resource) (affiliate_mirror_full_freshness_age_seconds{${OF}})`,
          legend: '{{resource}}, all of it',
        },
        { expr: `max(affiliate_mirror_stale_after_seconds{${JOB}})`, legend: 'stale' },
      ),
    )
    .withPanel(
      stacked(
        { title: 'Runs', description: 'Runs of the workers, per hour.', unit: 'short' },
        {
          expr: `sum by (outcome) (rate(affiliate_mirror_runs_total{${OF}}[$__rate_interval])) * 3600`,
          legend: '{{outcome}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Duration of the last run', description: 'Or so far, while it runs.', unit: 's' },
        {
          expr: `max by (resource) (affiliate_mirror_last_run_duration_seconds{${OF}})`,
          legend: '{{resource}}',
        },
      ),
    )
    .withPanel(
      stacked(
        { title: 'Records committed', description: 'By what became of each.', unit: 'rowsps' },
        {
          expr: `sum by (outcome) (rate(affiliate_mirror_rows_total{${OF}}[$__rate_interval]))`,
          legend: '{{outcome}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Not stored', description: 'Rejected records, and fields that changed.', unit: 'short' },
        {
          expr: `sum by (resource) (max by (program, resource) (affiliate_mirror_rejected_records{${OF}}))`,
          legend: '{{resource}} rejected',
        },
        {
          expr: `sum by (resource) (max by (program, resource) (affiliate_mirror_schema_drift_fields{${OF}}))`,
          legend: '{{resource}} fields changed',
        },
      ),
    )
    .withPanel(
      stacked(
        {
          title: 'Runs of the last day',
          description: 'By whichever process: those of "affiliate-mirror sync" too.',
          unit: 'short',
        },
        {
          expr: `sum by (resource, state) (max by (program, resource, state) (affiliate_mirror_runs_last_day{${OF}}))`,
          legend: '{{resource}} {{state}}',
        },
      ),
    )
    .withRow(new RowBuilder('The API'))
    .withPanel(
      stacked(
        { title: 'Requests', description: 'By status of the answer; none: no answer came.', unit: 'reqps' },
        {
          expr: `sum by (status) (rate(affiliate_mirror_requests_total{${OF}}[$__rate_interval]))`,
          legend: '{{status}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Time of a request', description: 'On average, without the wait for a permit.', unit: 's' },
        {
          expr: `sum by (endpoint) (rate(affiliate_mirror_request_seconds_total{${OF}}[$__rate_interval])) / sum by (endpoint) (rate(affiliate_mirror_requests_total{${OF}}[$__rate_interval]))`,
          legend: '{{endpoint}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Request budget', description: 'Permits in use, and the limit of a window.', unit: 'short' },
        { expr: `sum(max by (program) (affiliate_mirror_budget_used_requests{${OF}}))`, legend: 'used' },
        {
          expr: `sum(max by (program) (affiliate_mirror_budget_foreign_requests{${OF}}))`,
          legend: 'used by others',
        },
        { expr: `sum(max by (program) (affiliate_mirror_budget_limit_requests{${OF}}))`, legend: 'limit' },
      ),
    )
    .withPanel(
      stacked(
        {
          title: 'Requests that wait for a permit',
          description: 'On average at a time, by what they wait for.',
          unit: 'short',
        },
        {
          expr: `sum by (priority, reason) (rate(affiliate_mirror_permit_wait_seconds_total{${OF}}[$__rate_interval]))`,
          legend: '{{priority}}: {{reason}}',
        },
      ),
    )
    .withRow(new RowBuilder('Payments'))
    .withPanel(
      lines(
        { title: 'Requests of the payment ledger', description: 'By state.', unit: 'short' },
        {
          expr: `sum by (state) (max by (program, state) (affiliate_mirror_commission_updates{${OF}}))`,
          legend: '{{state}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'The oldest pending one', description: 'Since it was made.', unit: 's' },
        { expr: `max(affiliate_mirror_oldest_pending_update_age_seconds{${OF}})`, legend: 'age' },
      ),
    )
    .withPanel(
      lines(
        {
          title: 'To be looked at',
          description: 'Failed and neglected requests, sums that differ.',
          unit: 'short',
        },
        { expr: `sum(max by (program) (affiliate_mirror_payments_failed{${OF}}))`, legend: 'failed' },
        { expr: `sum(max by (program) (affiliate_mirror_payments_neglected{${OF}}))`, legend: 'neglected' },
        {
          expr: `sum(max by (program) (affiliate_mirror_commission_sums_differing{${OF}}))`,
          legend: 'sums that differ',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Known commissions', description: 'That are asked for one by one.', unit: 'short' },
        {
          expr: `sum by (state) (max by (program, state) (affiliate_mirror_tracked_commissions{${OF}}))`,
          legend: '{{state}}',
        },
      ),
    )
    .withRow(new RowBuilder('Queue and size'))
    .withPanel(
      lines(
        { title: 'Jobs of the queue', description: 'By state.', unit: 'short' },
        { expr: `max by (state) (affiliate_mirror_queue_jobs{${JOB}})`, legend: '{{state}}' },
      ),
    )
    .withPanel(
      lines(
        {
          title: 'Rows',
          description: 'Those marked deleted among them; large tables are estimated.',
          unit: 'short',
        },
        {
          expr: `sum by (table) (max by (program, table) (affiliate_mirror_table_rows{${OF}}))`,
          legend: '{{table}}',
        },
      ),
    )
    .withPanel(
      stacked(
        { title: 'Size of the largest tables', description: 'With their indexes.', unit: 'bytes' },
        {
          expr: `topk(8, sum by (table) (max by (program, table) (affiliate_mirror_table_size_bytes{${OF}})))`,
          legend: '{{table}}',
        },
      ),
    )
    .withPanel(
      lines(
        { title: 'Size of the database', description: 'The whole database.', unit: 'bytes' },
        { expr: `max(affiliate_mirror_database_size_bytes{${JOB}})`, legend: 'size' },
      ),
    )
    .withRow(new RowBuilder('Workers'))
    .withPanel(
      lines(
        { title: 'Memory', description: 'Each worker.', unit: 'bytes' },
        { expr: `process_resident_memory_bytes{${JOB}}`, legend: '{{instance}}' },
      ),
    )
    .withPanel(
      lines(
        { title: 'Delay of the event loop', description: 'One of a hundred turns is later.', unit: 's' },
        { expr: `nodejs_eventloop_lag_p99_seconds{${JOB}}`, legend: '{{instance}}' },
      ),
    )
    .withPanel(
      lines(
        { title: 'Processor time', description: 'Each worker, in cores.', unit: 'short' },
        { expr: `rate(process_cpu_seconds_total{${JOB}}[$__rate_interval])`, legend: '{{instance}}' },
      ),
    )
    .withPanel(
      lines(
        { title: 'Time that reading the figures takes', description: 'Within a scrape.', unit: 's' },
        { expr: `affiliate_mirror_figures_read_seconds{${OF}}`, legend: '{{instance}}' },
      ),
    )
    .build();
}

/** Returns the dashboard as it is written to its file. */
export function describeDashboard(): string {
  return `${JSON.stringify(buildDashboard(), null, 2)}\n`;
}
