// Collects what was measured: every value of every round, the median of each, and whether it is where it must be.

export interface Target {
  readonly most?: number;
  readonly least?: number;
}

export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly target?: Target;
}

export interface Figures {
  add(name: string, unit: string, value: number, target?: Target): void;
  all(): readonly Figure[];
}

/** Returns an empty collection; figures keep the order in which they were first added. */
export function makeFigures(): Figures {
  const figures = new Map<string, { name: string; unit: string; values: number[]; target?: Target }>();
  return {
    add(name, unit, value, target) {
      const figure = figures.get(name);
      if (figure !== undefined) figure.values.push(value);
      else figures.set(name, { name, unit, values: [value], ...(target && { target }) });
    },
    all: () => [...figures.values()],
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}

/** Returns `yes` or `no`, and an empty text where nothing is demanded. */
export function verdict({ values, target }: Figure): string {
  if (target === undefined) return '';
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = target;
  const value = median(values);
  return value <= most && value >= least ? 'yes' : 'no';
}

/** Returns the figures as a Markdown table, ready for docs/performance.md. */
export function renderFigures(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, unit, values, target } = figure;
    const spread = values.length > 1 ? `${format(Math.min(...values))} – ${format(Math.max(...values))}` : '';
    const demanded = [
      ...(target?.most === undefined ? [] : [`≤ ${format(target.most)}`]),
      ...(target?.least === undefined ? [] : [`≥ ${format(target.least)}`]),
    ];
    return [name, `${format(median(values))} ${unit}`.trim(), spread, demanded.join(', '), verdict(figure)];
  });
  const table = [['measure', 'median', 'range', 'must be', 'is it'], ...rows];
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}

function format(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}
