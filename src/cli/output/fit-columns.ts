// Which columns of a table a terminal has room for, and how wide each is. Pure.

import stringWidth from 'string-width';

/** A column as it is shown: its title, and the text of each row. */
export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** A figure that is broken in two would be read as two. */
  readonly isFigure: boolean;
}

export interface FittedColumns {
  readonly shown: readonly Column[];
  /** Of each shown column, without its padding. */
  readonly widths: readonly number[];
  /** Shown on lines of its own below each row, as there is no room beside the others. */
  readonly below: Column | null;
}

/** What may be done to a table that is too wide. */
export interface Sacrifices {
  /** Titles of the columns that a narrow terminal does without, the first to go first. */
  readonly mayGo?: readonly string[];
  /** Title of the column of long texts that may go on lines of their own below each row. */
  readonly mayGoBelow?: string | undefined;
}

/** The blanks on both sides of a cell; one border goes with each cell, and one more begins the line. */
export const PADDING = 2;
const BORDER = 1;

/**
 * Returns the columns that fit. The order in which room is made: titles are wrapped; the column that may do so goes
 * below; those that may go do so, one after the other; texts are wrapped between words; the last columns go; what is
 * left is cut short.
 */
export function fitColumns(
  all: readonly Column[],
  { mayGo = [], mayGoBelow }: Sacrifices,
  room: number,
): FittedColumns {
  const wholeWidths = shrink(all, widthsOfCells(all), room);
  if (wholeWidths !== null) return { shown: all, widths: wholeWidths, below: null };
  const below = all.length === 1 ? undefined : all.find(({ title }) => title === mayGoBelow);
  if (below === undefined) return { ...fitBeside(all, mayGo, room), below: null };
  const beside = fitBeside(
    all.filter((column) => column !== below),
    mayGo,
    room,
  );
  return { shown: beside.shown, widths: widenFor(below, beside.widths, room), below };
}

/** Returns the widths with the last one as wide as the texts below need, as far as there is room. */
function widenFor({ cells }: Column, widths: readonly number[], room: number): number[] {
  const wanted = Math.min(room, longest(cells) + PADDING + 2 * BORDER);
  const missing = Math.max(0, wanted - widthOfTable(widths));
  return widths.map((width, index) => (index === widths.length - 1 ? width + missing : width));
}

function fitBeside(
  columns: readonly Column[],
  mayGo: readonly string[],
  room: number,
): Omit<FittedColumns, 'below'> {
  const choices = mayGo
    .filter((title) => columns.some((column) => column.title === title))
    .map((_, index, titles) => columns.filter(({ title }) => !titles.slice(0, index + 1).includes(title)))
    .filter((shown) => shown.length > 0);
  for (const shown of [columns, ...choices]) {
    const widths = shrink(shown, widthsOfCells(shown), room);
    if (widths !== null) return { shown, widths };
  }
  const needed = choices.at(-1) ?? columns;
  for (let count = needed.length; count > 1; count -= 1) {
    const shown = needed.slice(0, count);
    const widths = shrink(shown, widthsOfWords(shown), room);
    if (widths !== null) return { shown, widths };
  }
  return { shown: needed.slice(0, 1), widths: [Math.max(1, room - PADDING - 2 * BORDER)] };
}

/** Returns the widths, none below its least, that fit beside each other; null where even the least do not. */
function shrink(shown: readonly Column[], least: readonly number[], room: number): number[] | null {
  const widths = shown.map(({ title, cells }) => longest([title, ...cells]));
  for (let excess = widthOfTable(widths) - room; excess > 0; excess -= 1) {
    const slack = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = slack.indexOf(Math.max(...slack));
    if (slack[widest] === 0) return null;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Returns the text with words that are longer than the table's inside broken, for a line across the whole table. */
export function breakLongWords(text: string, widths: readonly number[]): string {
  const inside = widthOfTable(widths) - PADDING - 2 * BORDER;
  return text.replaceAll(new RegExp(`\\S{${inside}}(?=\\S)`, 'g'), '$& ');
}

function widthOfTable(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + PADDING + BORDER, BORDER);
}

// Titles wrapped, cells whole.
function widthsOfCells(shown: readonly Column[]): number[] {
  return shown.map(({ title, cells }) => longest([...title.split(' '), ...cells]));
}

function widthsOfWords(shown: readonly Column[]): number[] {
  return shown.map(({ title, cells, isFigure }) =>
    longest([...title.split(' '), ...(isFigure ? cells : cells.flatMap((cell) => cell.split(/\s+/)))]),
  );
}

function longest(texts: readonly string[]): number {
  // A column of a hundred thousand rows is more than a call takes as arguments.
  let most = 1;
  for (const text of texts) for (const line of text.split('\n')) most = Math.max(most, stringWidth(line));
  return most;
}
