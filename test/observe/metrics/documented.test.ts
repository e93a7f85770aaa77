// Every metric that exists is documented, and the other way round; every one that an alert or the dashboard names
// exists.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../../src/observe/metrics/make-metrics.ts';
import { PREFIX } from '../../../src/observe/metrics/metric.ts';
import { PROCESS_METRICS } from '../../../src/observe/metrics/process-metrics.ts';
import { COUNTERS, type CounterName, isReadByRules } from '../../../src/observe/metrics/recorder.ts';
import { PROGRAM_METRICS } from '../../../src/observe/metrics/registries.ts';
import { buildDashboard, DASHBOARD_FILE, describeDashboard } from '../../../tools/dashboard/dashboard.ts';
import { createTestDatabase } from '../../support/database.ts';
import { ROOT, readTable } from '../../support/read-docs.ts';
import { makeScraper, namesOf } from './scrape.ts';

const PAGE = 'docs/metrics.md';
const HEADER = ['name', 'type', 'labels', 'meaning'];
const OURS = ['Of the mirror', 'Of payments and request budget', 'Of a worker'].flatMap((heading) =>
  readTable(PAGE, heading, HEADER),
);

const code = (text: string) => `\`${text}\``;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
interface RuleTest {
  readonly promql_expr_test?: readonly { readonly exp_samples: readonly { readonly labels: string }[] }[];
}

const DIRECTORY = join(ROOT, 'docs/deploy/prometheus');
const RULES: readonly Rule[] = parse(readFileSync(join(DIRECTORY, 'alerts.yml'), 'utf8')).groups[0].rules;

async function scrape(): Promise<string> {
  const { pool } = await createTestDatabase();
  return makeScraper(pool).scrape();
}

/** Returns what the expression names that could be a metric. */
function metricsIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:affiliate_mirror|nodejs|process)_\w+/g)].map(([name]) => name);
}

/** Returns the expressions behind the dashboard's panels. */
function dashboardExpressions(): string[] {
  const panels = buildDashboard().panels ?? [];
  return panels.flatMap((panel) =>
    ('targets' in panel ? (panel.targets ?? []) : []).map(
      (target) => (target as { expr?: string }).expr ?? '',
    ),
  );
}

test('the table of metrics names each with its type and labels, and no other', () => {
  const documented = OURS.map(([name, type, labels]) => [name, type, labels]);
  const existing = METRICS.map(({ name, type, labels }) => [
    code(PREFIX + name),
    type,
    labels.map(code).join(', '),
  ]);
  expect(documented.toSorted()).toEqual(existing.toSorted());
});

test('every metric that an alert or the dashboard names is in a scrape', async () => {
  const names = namesOf(await scrape());
  const used = [...RULES.map(({ expr }) => expr), ...dashboardExpressions()].flatMap(metricsIn);
  expect(used.length).toBeGreaterThan(RULES.length);
  expect([...new Set(used)].filter((name) => !names.includes(name))).toEqual([]);
});

test('a program at rest has the metrics that an alert reads, and no others', () => {
  const shown = [
    ...PROGRAM_METRICS.filter((metric) => metric.isReadByRules !== undefined).map(({ name }) => name),
    ...(Object.keys(COUNTERS) as CounterName[]).filter(isReadByRules),
  ];
  const ofProcess = PROCESS_METRICS.map(({ name }) => PREFIX + name);
  const read = RULES.flatMap(({ expr, annotations }) => metricsIn(`${expr} ${annotations['description']}`));
  const ofPrograms = read.filter((name) => name.startsWith(PREFIX) && !ofProcess.includes(name));
  expect(shown.map((name) => PREFIX + name).toSorted()).toEqual([...new Set(ofPrograms)].toSorted());
});

test('the dashboard that is published is the one of the code', () => {
  expect(readFileSync(DASHBOARD_FILE, 'utf8'), 'run "npm run docs"').toBe(describeDashboard());
});

test('every alert says what is wrong, what that means and which command fixes it', () => {
  const commands = globSync('*.ts', { cwd: `${ROOT}/src/cli/commands` }).map((file) =>
    file.replace('.ts', ''),
  );
  for (const { alert, labels, annotations } of RULES) {
    expect(alert).toMatch(/^AffiliateMirror[A-Z]/);
    expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
    expect(Object.keys(annotations), alert).toEqual(['summary', 'description', 'fix']);
    const [program, command] = annotations['fix']?.split(/[ {]/) ?? [];
    expect(program, alert).toBe('affiliate-mirror');
    expect(commands, alert).toContain(command);
  }
});

test('every alert has a test in which it fires, and is over', () => {
  const files = globSync('*.test.yml', { cwd: DIRECTORY }).map((file) => join(DIRECTORY, file));
  const tests: readonly RuleTest[] = files.flatMap((file) => parse(readFileSync(file, 'utf8')).tests);
  const firing = tests.flatMap(({ promql_expr_test: steps = [] }) => {
    expect(steps.at(-1)?.exp_samples ?? []).toEqual([]);
    return steps.flatMap(({ exp_samples }) =>
      exp_samples.map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? labels),
    );
  });
  expect([...new Set(firing)].toSorted()).toEqual(RULES.map(({ alert }) => alert).toSorted());
});
